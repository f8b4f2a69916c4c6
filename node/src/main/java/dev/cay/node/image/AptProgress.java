package dev.cay.node.image;

import java.util.regex.Pattern;

/// Makes progress out of what apt and dpkg print: how many packages there are, which are here, unpacked, set up.
final class AptProgress {
    private static final Pattern PLAN = Pattern.compile("\\d+ upgraded, (\\d+) newly installed.*");
    private static final Pattern NEED = Pattern.compile("Need to get ([^/]+?)(/.*)? of archives.*");
    private static final Pattern FETCHED = Pattern.compile("Get:\\d+ .* (\\S+) \\S+ \\S+ \\S+ \\[.*");
    private static final Pattern DONE = Pattern.compile("(Unpacking|Setting up) (\\S+).*");

    private final BuildProgress progress;
    private final double share;
    private int planned;
    private int fetched;
    private int steps;
    private String size = "";
    private String complaint = "";
    private double reached;

    /// @param share how much of the whole this is
    AptProgress(BuildProgress progress, double share) {
        this.progress = progress;
        this.share = share;
    }

    void heard(String line) {
        var plan = PLAN.matcher(line);
        var need = NEED.matcher(line);
        var got = FETCHED.matcher(line);
        var done = DONE.matcher(line);
        if (plan.matches()) {
            planned += Integer.parseInt(plan.group(1));
        } else if (need.matches()) {
            size = need.group(1);
        } else if (planned == 0 && line.startsWith("I: running apt-get update")) {
            tell("reading package lists", "", 0.02);
        } else if (got.matches() && planned > 0) {
            tell("downloading packages", "%d of %d, %s".formatted(++fetched, planned, size), part(fetched, planned));
        } else if (done.matches() && planned > 0) {
            tell("installing packages", done.group(2), 0.35 + 0.65 * part(++steps, 2 * planned));
        } else if ((line.startsWith("E: ") && complaint.isEmpty()) || line.contains("Temporary failure resolving")) {
            complaint = line.replaceFirst("^E: ", "");
        }
    }

    /// The first error, as it is the cause of the others; empty if there was none.
    String complaint() {
        return complaint;
    }

    private void tell(String step, String detail, double fraction) {
        // apt installs in two rounds: a bar must not go back.
        reached = Math.max(reached, Math.min(1, step.startsWith("downloading") ? 0.35 * fraction : fraction));
        progress.at(step, detail, share * reached);
    }

    private static double part(int count, int all) {
        return Math.min(1, (double) count / all);
    }
}
