package dev.cay.prove;

import dev.cay.life.Progress;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.List;
import java.util.stream.Collectors;

/// All proofs.
public final class Proofs {
    private static final List<Proof> ALL = List.of(
            new CrashProof(),
            new EscapeProof(),
            new EgressProof(),
            new OverloadProof(),
            new DensityProof(),
            new SoakProof(),
            new RacesProof(),
            new CyclesProof(),
            new RushProof(),
            new FaultsProof(),
            new BuildsProof(),
            new WebhooksProof(),
            new FuzzProof(),
            new RunnersProof(),
            new CatalogProof(),
            new AgentsProof());

    private Proofs() {}

    public static List<Proof> all() {
        return ALL;
    }

    public static Proof named(String name) {
        return ALL.stream()
                .filter(proof -> proof.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "there is no proof named %s; there are: %s"
                                .formatted(name, ALL.stream().map(Proof::name).collect(Collectors.joining(", ")))));
    }

    /// Runs a proof on a stage of its own. One that breaks does not hold.
    public static Verdict run(Proof proof, Progress progress, Scope scope) {
        try (var stage = new Stage(progress, scope)) {
            return proof.run(stage);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CayException(ErrorKind.CANCELED, "the proof was interrupted", e);
        } catch (Exception e) {
            return new Verdict(
                    false, "broke off: " + e.toString().lines().findFirst().orElse(""), List.of(e.toString()));
        }
    }
}
