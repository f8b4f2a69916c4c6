package dev.cay.node.image;

import java.util.regex.Pattern;

/// Makes progress out of what apt and dpkg print: how many packages there are, which are here, unpacked, set up.
final class AptProgress {
    private static final Pattern PLAN = Pattern.compile("\\d+ upgraded, (\\d+) newly installed.*");
    private static final Pattern NEED = Pattern.compile("Need to get ([^/]+?)(/.*)? of archives.*");
    private static final Pattern FETCHED = Pattern.compile("Get:\\d+ .* (\\S+) \\S+ \\S+ \\S+ \\[.*");
    private static final Pattern DONE = Pattern.compile("(Unpacking|Setting up) (\\S+).*");

    /// Share of the first round.
    private static final double ESSENTIAL = 0.3;

    private final BuildProgress progress;
    private final double share;
    private int round;
    private int planned;
    private int fetched;
    private int steps;
    private String size = "";
    private String complaint = "";

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
            begin(Integer.parseInt(plan.group(1)));
        } else if (need.matches()) {
            size = need.group(1);
        } else if (line.startsWith("I: running apt-get update")) {
            progress.at("reading package lists", "", 0.01);
        } else if (got.matches() && planned > 0) {
            fetched++;
            tell("downloading packages", "%d of %d, %s".formatted(fetched, planned, size));
        } else if (done.matches() && planned > 0) {
            steps++;
            tell("installing packages", done.group(2));
        } else if ((line.startsWith("E: ") && complaint.isEmpty()) || line.contains("Temporary failure resolving")) {
            complaint = line.replaceFirst("^E: ", "");
        }
    }

    /// The first error, as it is the cause of the others; empty if there was none.
    String complaint() {
        return complaint;
    }

    /// apt comes twice: first for the essential packages, then for all others.
    private void begin(int packages) {
        round++;
        planned = Math.max(1, packages);
        fetched = 0;
        steps = 0;
    }

    private void tell(String step, String detail) {
        double done = 0.35 * Math.min(1, (double) fetched / planned) + 0.65 * Math.min(1, steps / (2.0 * planned));
        double all = round == 1 ? ESSENTIAL * done : ESSENTIAL + (1 - ESSENTIAL) * done;
        progress.at(step, detail, share * all);
    }
}
