package dev.cay.cli;

import dev.cay.cli.local.Root;
import dev.cay.prove.PromisesPage;
import dev.cay.prove.Proof;
import dev.cay.prove.Proofs;
import dev.cay.prove.Scope;
import dev.cay.prove.Verdict;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "prove",
        mixinStandardHelpOptions = true,
        description =
                "Show that a promise holds, where that takes minutes: with real sandboxes in a daemon of its own.",
        footer = {
            "",
            "The verdict goes into docs/PROMISES.md with date and commit, all details into target/proofs/NAME.md,",
            "and the table of servers that catalog makes into docs/mcp.md.",
            "A Cay that is running is not disturbed, except by the load. Exits with 1 if a promise does not hold.",
            "",
            "Examples:",
            "  sudo ./cay prove --list",
            "  sudo ./cay prove crash",
            "  sudo ./cay prove overload --only forks,memory",
            "  sudo ./cay prove builds --only registry,disk",
            "  sudo ./cay prove catalog --only notion,exa",
            "  sudo ./cay prove rush --small",
            "  sudo ./cay prove crash density --no-record"
        })
final class ProveCommand implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", arity = "0..*", description = "Which proofs, one after the other.")
    private List<String> names = List.of();

    @Option(names = "--list", description = "Say which proofs there are.")
    private boolean list;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description =
                    "How long proofs with a duration run; a result with another duration than promised is not recorded.")
    private @Nullable Integer minutes;

    @Option(
            names = "--only",
            paramLabel = "PART",
            split = ",",
            description = "Play only these parts of a proof that has several; not recorded.")
    private List<String> only = List.of();

    @Option(
            names = "--small",
            description = "A tenth of the sandboxes for proofs that have many of them, to try it; not recorded.")
    private boolean small;

    @Option(names = "--no-record", description = "Do not write the verdict into docs/PROMISES.md.")
    private boolean unrecorded;

    @Override
    public Integer call() {
        if (list || names.isEmpty()) {
            Proofs.all().forEach(proof -> System.out.printf("%-10s %s%n", proof.name(), proof.promise()));
            return 0;
        }
        var proofs = names.stream().map(Proofs::named).toList();
        Root.require("prove", "to start sandboxes");
        boolean all = true;
        for (var proof : proofs) {
            all &= Interruptible.run(() -> prove(proof));
        }
        return all ? 0 : 1;
    }

    private boolean prove(Proof proof) {
        System.out.println("proof " + proof.name() + ": " + proof.promise());
        var scope = new Scope(minutes, small, only);
        var verdict = Proofs.run(proof, new ConsoleProgress(System.out, InstantSource.system()), scope);
        verdict.details().forEach(System.out::println);
        System.out.println((verdict.holds() ? "HOLDS: " : "DOES NOT HOLD: ") + verdict.summary());
        keep(proof, verdict, scope);
        return verdict.holds();
    }

    private void keep(Proof proof, Verdict verdict, Scope scope) {
        var home = System.getProperty("cay.home");
        if (home == null) {
            return;
        }
        try {
            var lines = new ArrayList<String>();
            lines.add("# " + proof.name() + ": " + (verdict.holds() ? "holds" : "does not hold"));
            lines.addAll(List.of("", proof.promise() + ".", "", verdict.summary(), ""));
            lines.addAll(verdict.details());
            Files.write(Files.createDirectories(Path.of(home, "target/proofs")).resolve(proof.name() + ".md"), lines);
            if (!unrecorded && scope.isWhole()) {
                new PromisesPage(Path.of(home)).note(proof, verdict, LocalDate.now(java.time.ZoneOffset.UTC));
                proof.document(Path.of(home), verdict);
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot keep the details of the proof", e);
        }
    }
}
