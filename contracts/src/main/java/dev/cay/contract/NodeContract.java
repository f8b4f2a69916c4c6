package dev.cay.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.SandboxId;
import dev.cay.wire.node.Egress;
import dev.cay.wire.node.Keep;
import dev.cay.wire.node.Node;
import dev.cay.wire.node.NodeSandbox;
import dev.cay.wire.node.SandboxSpec;
import dev.cay.wire.node.Saved;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/// What every {@link Node} does. Tests may share a node: each has its own sandboxes and removes them.
public interface NodeContract {
    Node node();

    /// A sandbox that the node can start, and that is like all others that this method describes.
    SandboxSpec spec(String id);

    /// The same, going on from a snapshot.
    private SandboxSpec spec(String id, String snapshot) {
        var spec = spec(id);
        return new SandboxSpec(
                spec.id(),
                spec.templateId(),
                spec.layers(),
                spec.resources(),
                spec.environment(),
                spec.accessToken(),
                spec.defaultUser(),
                spec.defaultWorkdir(),
                spec.egress(),
                snapshot);
    }

    @Test
    default void aCreatedSandboxIsFoundAndListedUntilItIsKilled() {
        var id = new SandboxId("contractfound");
        var created = node().create(spec("contractfound"));

        assertThat(created.id()).isEqualTo(id);
        assertThat(created.templateId()).isEqualTo(spec("contractfound").templateId());
        assertThat(created.saved()).isNull();
        assertThat(node().find(id)).contains(created);
        assertThat(node().list()).contains(created);
        assertThat(node().measure(id).memoryTotal()).isPositive();
        assertThat(node().measureAll()).containsKey(id);

        node().kill(id);

        assertThat(node().find(id)).isEmpty();
        assertThat(node().list()).extracting(NodeSandbox::id).doesNotContain(id);
        assertThat(node().measureAll()).doesNotContainKey(id);
    }

    @Test
    default void creatingAgainAnswersWithWhatRuns() {
        var first = node().create(spec("contractagain"));

        assertThat(node().create(spec("contractagain"))).isEqualTo(first);

        node().kill(first.id());
    }

    @Test
    default void unknownSandboxesAreRefusedByNameButMayBeKilled() {
        var unknown = new SandboxId("contractunknown");

        assertThat(node().find(unknown)).isEmpty();
        node().kill(unknown);
        refuses(ErrorKind.NOT_FOUND, () -> node().pause(unknown, Keep.MEMORY));
        refuses(ErrorKind.NOT_FOUND, () -> node().resume(unknown, true));
        refuses(ErrorKind.NOT_FOUND, () -> node().snapshot(unknown, "contractnone", Keep.FILES));
        refuses(ErrorKind.NOT_FOUND, () -> node().rollback(unknown, "contractnone"));
        refuses(ErrorKind.NOT_FOUND, () -> node().measure(unknown));
        refuses(ErrorKind.NOT_FOUND, () -> node().setEgress(unknown, Egress.closed()));
    }

    @Test
    default void aPausedSandboxIsListedAsSavedAndGoesOn() {
        var id = new SandboxId("contractpaused");
        node().create(spec("contractpaused"));

        assertThat(node().pause(id, Keep.MEMORY)).isEqualTo(Saved.WHOLE);

        assertThat(node().find(id)).map(NodeSandbox::saved).contains(Saved.WHOLE);
        assertThat(node().list()).extracting(NodeSandbox::id).contains(id);
        assertThat(node().measureAll()).doesNotContainKey(id);
        assertThat(node().pause(id, Keep.FILES))
                .as("pausing a paused one answers with what was saved")
                .isEqualTo(Saved.WHOLE);

        assertThat(node().resume(id, true).saved()).isNull();
        assertThat(node().resume(id, true).saved())
                .as("resuming one that runs answers with it")
                .isNull();
        assertThat(node().measureAll()).containsKey(id);

        node().kill(id);
    }

    @Test
    default void aPausedSandboxKeepsFilesAloneWhenToldSoAndCanBeKilled() {
        var id = new SandboxId("contractfiles");
        node().create(spec("contractfiles"));

        assertThat(node().pause(id, Keep.FILES)).isEqualTo(Saved.FILES);
        node().kill(id);

        assertThat(node().find(id)).isEmpty();
        refuses(ErrorKind.NOT_FOUND, () -> node().resume(id, false));
    }

    @Test
    default void aSnapshotOutlivesItsSandboxAndAnotherGoesOnFromIt() {
        var id = new SandboxId("contractsource");
        node().create(spec("contractsource"));
        assertThat(node().snapshot(id, "contractkept", Keep.MEMORY)).isEqualTo(Saved.WHOLE);
        assertThat(node().snapshots()).contains("contractkept");
        assertThat(node().find(id)).map(NodeSandbox::saved).isEmpty();
        node().kill(id);

        var copy = node().create(spec("contractcopy", "contractkept"));
        assertThat(copy.saved()).isNull();
        node().deleteSnapshot("contractkept");

        assertThat(node().snapshots()).doesNotContain("contractkept");
        assertThat(node().find(copy.id())).isPresent();
        refuses(ErrorKind.NOT_FOUND, () -> node().create(spec("contractlate", "contractkept")));
        node().kill(copy.id());
    }

    @Test
    default void aNameOfASnapshotIsGivenOnceAndHasLettersAndDigits() {
        var id = new SandboxId("contractnames");
        node().create(spec("contractnames"));
        node().snapshot(id, "contractname", Keep.FILES);

        refuses(ErrorKind.ALREADY_EXISTS, () -> node().snapshot(id, "contractname", Keep.FILES));
        for (String name : List.of("", "Upper", "with-dash", "../up", "a b")) {
            refuses(ErrorKind.INVALID_ARGUMENT, () -> node().snapshot(id, name, Keep.FILES));
        }
        node().deleteSnapshot("contractneverthere");

        node().kill(id);
        node().deleteSnapshot("contractname");
    }

    @Test
    default void aSandboxGoesBackToItsSnapshotRunningOrPaused() {
        var id = new SandboxId("contractback");
        node().create(spec("contractback"));
        node().snapshot(id, "contractpoint", Keep.MEMORY);
        refuses(ErrorKind.NOT_FOUND, () -> node().rollback(id, "contractneverthere"));

        assertThat(node().rollback(id, "contractpoint").saved()).isNull();
        node().pause(id, Keep.MEMORY);
        assertThat(node().rollback(id, "contractpoint").saved()).isNull();
        assertThat(node().find(id)).map(NodeSandbox::saved).isEmpty();

        node().kill(id);
        node().deleteSnapshot("contractpoint");
    }

    @Test
    default void reservedIdsAreGivenOutOnce() {
        var kind = spec("contractkind").kind();
        node().expect(kind);
        var first = node().reserve(kind);
        var second = node().reserve(kind);

        assertThat(second).isNotEqualTo(first);
        node().kill(first);
        node().kill(second);
        assertThat(node().find(first)).isEmpty();
    }

    @Test
    default void nobodyIsToldOfTheEndOfASandboxThatWasKilled() {
        var told = new CopyOnWriteArrayList<SandboxId>();
        node().onEnd((id, _) -> told.add(id));
        var id = new SandboxId("contractquiet");
        node().create(spec("contractquiet"));

        node().kill(id);

        assertThat(told).doesNotContain(id);
    }

    private static void refuses(ErrorKind kind, ThrowingCallable call) {
        assertThatExceptionOfType(CayException.class)
                .isThrownBy(call)
                .extracting(CayException::kind)
                .isEqualTo(kind);
    }
}
