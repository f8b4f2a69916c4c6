package dev.cay.cli.doctor;

import dev.cay.config.CayConfig;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/// What the host itself could do better. None of it stops Cay; all of it makes kernel bugs harder to exploit.
final class SecurityChecks implements Check {
    private static final int OLD_DAYS = 120;
    private static final Pattern RUNC = Pattern.compile("runc version (\\d+)\\.(\\d+)\\.(\\d+)(\\S*)");
    private static final Pattern BUILT = Pattern.compile("([A-Z][a-z]{2} +\\d{1,2}) [\\d:]{8} [A-Z]{3,4} (\\d{4})");
    private static final Pattern BUILT_DEBIAN = Pattern.compile("\\((\\d{4}-\\d{2}-\\d{2})\\)");

    @Override
    public List<Finding> look(CayConfig config, UnaryOperator<String> command) {
        var findings = new ArrayList<Finding>();
        findings.add(kernelAge(Probe.read("/proc/version"), LocalDate.now(ZoneOffset.UTC)));
        findings.add(runc(Probe.run("runc", "--version").map(Probe.Answer::text).orElse("")));
        findings.add(atLeast("bpf", "kernel.unprivileged_bpf_disabled", 1, "users may load programs into the kernel"));
        findings.add(atLeast("kptr", "kernel.kptr_restrict", 1, "users see the kernel's addresses"));
        findings.add(atLeast("dmesg", "kernel.dmesg_restrict", 1, "users read the kernel's log"));
        findings.add(atLeast("perf", "kernel.perf_event_paranoid", 2, "users measure the kernel"));
        findings.add(userNamespaces());
        findings.add(lockdown(Probe.read("/sys/kernel/security/lockdown")));
        findings.addAll(mitigations());
        return findings;
    }

    /// The age of the kernel. Versions say little, because distributions fix old ones; the build date says how long
    /// it got no fixes.
    static Finding kernelAge(String version, LocalDate today) {
        var built = built(version);
        if (built.isEmpty()) {
            return Finding.note("kernel age", "does not say when it was built; take your distribution's newest");
        }
        long days = ChronoUnit.DAYS.between(built.get(), today);
        String found = "built on %s, %d days ago".formatted(built.get(), days);
        return days <= OLD_DAYS
                ? Finding.ok("kernel age", found)
                : Finding.warn(
                        "kernel age",
                        found + "; all sandboxes share it",
                        "install your distribution's newest kernel and reboot");
    }

    private static Optional<LocalDate> built(String version) {
        try {
            var debian = BUILT_DEBIAN.matcher(version);
            if (debian.find()) {
                return Optional.of(LocalDate.parse(debian.group(1)));
            }
            var usual = BUILT.matcher(version);
            if (usual.find()) {
                String text = usual.group(1).replaceAll(" +", " ") + " " + usual.group(2);
                return Optional.of(LocalDate.parse(text, DateTimeFormatter.ofPattern("MMM d yyyy", Locale.ROOT)));
            }
        } catch (DateTimeParseException _) {
            // Not a date after all.
        }
        return Optional.empty();
    }

    /// The holes of runc that are fixed in a version; see docs/security.md.
    static Finding runc(String answer) {
        var version = RUNC.matcher(answer);
        if (!version.find()) {
            return Finding.note("runc", "does not say its version");
        }
        int minor = Integer.parseInt(version.group(2));
        int patch = Integer.parseInt(version.group(3));
        boolean first = version.group(1).equals("1");
        var open = new ArrayList<String>();
        if (first && (minor < 1 || (minor == 1 && patch < 12))) {
            open.add("CVE-2024-21626");
        }
        if (first && (minor < 2 || (minor == 2 && patch < 8) || (minor == 3 && patch < 3))) {
            open.add("CVE-2025-31133, CVE-2025-52565, CVE-2025-52881");
        }
        if (first && (minor < 3 || (minor == 3 && patch < 6) || (minor == 4 && patch < 3))) {
            open.add("CVE-2026-41579");
        }
        String name = version.group().substring("runc version ".length());
        if (open.isEmpty()) {
            return Finding.ok("runc", name);
        }
        boolean packaged = !version.group(4).isEmpty();
        return packaged
                ? Finding.note(
                        "runc",
                        "%s is a distribution's own: look into its changelog for %s"
                                .formatted(name, String.join(", ", open)))
                : Finding.warn(
                        "runc", name + " lacks the fixes of " + String.join(", ", open), "install runc 1.4.3 or newer");
    }

    private static Finding atLeast(String name, String key, int wanted, String otherwise) {
        String value = Probe.read("/proc/sys/" + key.replace('.', '/'));
        if (!value.matches("-?\\d{1,9}")) {
            return Finding.note(name, key + " is not there");
        }
        return Integer.parseInt(value) >= wanted
                ? Finding.ok(name, key + " is " + value)
                : Finding.warn(
                        name,
                        "%s is %s: %s".formatted(key, value, otherwise),
                        "sudo sysctl -w %s=%d".formatted(key, wanted));
    }

    /// Sandboxes cannot make any; the host's other users can, and most holes of the last years began there.
    private static Finding userNamespaces() {
        boolean restricted =
                Probe.read("/proc/sys/kernel/unprivileged_userns_clone").equals("0")
                        || Probe.read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
                                .equals("1");
        return restricted
                ? Finding.ok("userns", "the host's users cannot make user namespaces freely")
                : Finding.note("userns", "the host's own users can make user namespaces; sandboxes cannot");
    }

    static Finding lockdown(String state) {
        if (state.isEmpty()) {
            return Finding.note("lockdown", "not in this kernel");
        }
        return state.contains("[none]")
                ? Finding.note("lockdown", "off; with it root of the host could not change the kernel either")
                : Finding.ok("lockdown", state);
    }

    private static List<Finding> mitigations() {
        var open = Probe.run("sh", "-c", "grep -l '^Vulnerable' /sys/devices/system/cpu/vulnerabilities/* 2>/dev/null")
                .map(Probe.Answer::text)
                .orElse("");
        if (open.isEmpty()) {
            return List.of(Finding.ok("processor", "the kernel knows of no open hole"));
        }
        String names = open.replaceAll("\\S*/", "").replace('\n', ' ');
        return List.of(Finding.warn(
                "processor",
                "open to " + names + ": a sandbox may read others' memory",
                "update the microcode and remove mitigations=off from the kernel's command line"));
    }
}
