package dev.cay.acceptance;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.cay.life.Steps;
import dev.cay.testing.Fast;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/// The rules of the code: which modules and packages may depend on each other, and what only one of them may use.
@Fast
final class ArchitectureTest {
    static final JavaClasses CAY = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("/acceptance/"))
            .importPackages("dev.cay");

    private static final String[] GENERATED = {"dev.cay.wire.process..", "dev.cay.wire.filesystem.."};

    @Test
    void wireKnowsNobody() {
        noClasses()
                .that()
                .resideInAPackage("dev.cay.wire..")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.cay..").and(not(resideInAPackage("dev.cay.wire.."))))
                .check(CAY);
    }

    @Test
    void theKitKnowsOnlyWire() {
        noClasses()
                .that(Modules.in("kit"))
                .should()
                .dependOnClassesThat(resideInAPackage("dev.cay..").and(not(Modules.in("kit", "wire"))))
                .check(CAY);
    }

    /// Sandboxes are reached by the SDK alone. Of wire, the program has what the kit throws, and Cay's version.
    @Test
    void theMcpServerKnowsOnlySdkAndKit() {
        noClasses()
                .that(Modules.in("mcp"))
                .should()
                .dependOnClassesThat(resideInAPackage("dev.cay..")
                        .and(not(Modules.in("mcp", "sdk", "kit")))
                        .and(not(resideInAPackage("dev.cay.wire"))))
                .check(CAY);
    }

    @Test
    void nobodyKnowsTheCommands() {
        noClasses()
                .that(not(Modules.in("cli")))
                .should()
                .dependOnClassesThat(Modules.in("cli"))
                .check(CAY);
    }

    /// Each kind of MCP revisions can be changed, or dropped one day, without a look at the other.
    @Test
    void theTwoTransportsOfMcpDoNotKnowEachOther() {
        String session = "dev.cay.mcp.protocol.session..";
        String stateless = "dev.cay.mcp.protocol.stateless..";
        noClasses()
                .that()
                .resideInAPackage(session)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(stateless)
                .check(CAY);
        noClasses()
                .that()
                .resideInAPackage(stateless)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(session)
                .check(CAY);
    }

    @Test
    void serverAndNodeMeetOnlyInWire() {
        noClasses()
                .that()
                .resideInAPackage("dev.cay.server..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.cay.node..")
                .check(CAY);
        noClasses()
                .that()
                .resideInAPackage("dev.cay.node..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.cay.server..")
                .check(CAY);
    }

    /// Whoever uses the SDK gets Jackson with it and nothing else.
    @Test
    void theSdkNeedsOnlyJackson() {
        classes()
                .that()
                .resideInAPackage("dev.cay.sdk..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("dev.cay.sdk..", "java..", "javax.net.ssl..", "tools.jackson..", "org.jspecify..")
                .check(CAY);
    }

    @Test
    void onlyTwoPackagesKnowJetty() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.cay.http..", "dev.cay.proxy..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.eclipse.jetty..")
                .check(CAY);
    }

    /// The daemon runs without measurements and proofs: they are not on its class path.
    @Test
    void onlyThreeOfTheCommandsKnowMeasurementsAndProofs() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.cay.platform..", "dev.cay.bench..", "dev.cay.prove..")
                .and()
                .haveNameNotMatching("dev\\.cay\\.cli\\.(BenchCommand|ProveCommand|doctor\\.SecurityReport)(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.cay.platform..", "dev.cay.bench..", "dev.cay.prove..")
                .check(CAY);
    }

    /// `cay-guest.jar` is on the class path of every daemon.
    @Test
    void theAttackProgramOfTheProofsIsNotBesideTheGuest() {
        assertThat(ArchitectureTest.class.getResource("/dev/cay/guest/cay-guest"))
                .isNotNull();
        assertThat(ArchitectureTest.class.getResource("/dev/cay/guest/cay-probe"))
                .isNull();
    }

    @Test
    void onlyOnePackageKnowsPrometheus() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.cay.metrics..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.prometheus..")
                .check(CAY);
    }

    @Test
    void onlyOnePackageCallsTheKernel() {
        noClasses()
                .that()
                // What runs inside sandboxes is a program of its own.
                .resideOutsideOfPackages("dev.cay.node.linux..", "dev.cay.runner..")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.foreign.Linker")
                .check(CAY);
    }

    /// A daemon that users have runs no script at its steps: nothing on its class path listens to them.
    @Test
    void onlyProofsListenToSteps() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.cay.prove..")
                .should()
                .callMethod(Steps.class, "listen", Consumer.class)
                .check(CAY);
    }

    /// A call on a descriptor may block, and two virtual threads that block stop all others on two cores. Which
    /// thread runs a method cannot be seen here, so these few classes are the ones that were looked at: they hop
    /// to `HostThreads`, run on the thread of `FdPoller`, or use descriptors that never block, as sockets and pipes
    /// of the egress path. Proofs have threads of their own. Layers of images are unpacked and merged on platform
    /// threads, as `LayerTree` and `LayerMerge` check.
    @Test
    void onlyAFewCallTheKernelOnDescriptors() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.cay.node.linux..", "dev.cay.prove..", "dev.cay.node.image.oci..")
                .and(not(simpleNameIn("FileTree", "DirectoryListing", "NewFile", "OpenFile", "Metadata", "Entries")))
                .and(not(simpleNameIn(
                        "FileMaker", "FileSystems", "Composition", "TreeRemoval", "WatchedTree", "FileWork")))
                .and(not(simpleNameIn("OutputLog", "Pump", "ProcessInput", "LineProcess", "LineReader", "Complaints")))
                .and(not(simpleNameIn("GuestLink", "Streams", "SharedTerminals", "BtrfsDisks", "HeldBack")))
                .and(not(simpleNameIn("LayerView", "ChangedFiles", "VolumeTree")))
                .and(not(simpleNameIn("EgressAcceptor", "EgressPath", "EgressSocket", "HttpBridge", "Pipes", "Relay")))
                .should()
                .callMethodWhere(target(owner(simpleNameIn(
                        "FileCalls",
                        "EntryCalls",
                        "DescriptorIo",
                        "FileIdentity",
                        "UnixSocket",
                        "TcpSocket",
                        "Attributes",
                        "BtrfsQuotas"))))
                .check(CAY);
    }

    private static DescribedPredicate<JavaClass> simpleNameIn(String... names) {
        var known = Set.of(names);
        return DescribedPredicate.describe(
                "named " + known,
                type -> type.getPackageName().startsWith("dev.cay.node")
                        && known.contains(outermost(type).getSimpleName()));
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }

    /// A thread that a constructor starts sees half an object. Whoever makes an object says when it begins to work.
    @Test
    void constructorsStartNoThreads() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.cay.platform..", "dev.cay.bench..", "dev.cay.prove..")
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "the origin is a constructor and the target starts a thread",
                        call -> call.getOrigin().isConstructor()
                                && !call.isDeclaredInLambda()
                                && call.getTarget().getName().startsWith("start")
                                && (call.getTargetOwner().isAssignableTo(Thread.class)
                                        || call.getTargetOwner().isAssignableTo(Thread.Builder.class))))
                .check(CAY);
    }

    /// Each capability has its own SQL, in one class that is named for it.
    @Test
    void sqlStaysInStores() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.cay.server.store..")
                .and()
                .haveSimpleNameNotEndingWith("Store")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.sql..", "org.flywaydb..", "org.sqlite..")
                .check(CAY);
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.cay.server..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.jdbi..")
                .check(CAY);
    }

    /// Each package stands for itself, also one that lies below another.
    @Test
    void packagesFormNoCircles() {
        slices().assignedFrom(PACKAGES).should().beFreeOfCycles().check(CAY);
    }

    private static final SliceAssignment PACKAGES = new SliceAssignment() {
        @Override
        public String getDescription() {
            return "packages";
        }

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String name = type.getPackageName();
            return name.startsWith("dev.cay.") ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
        }
    };

    @Test
    void namesSayWhatIsDifferent() {
        classes()
                .that()
                .resideInAPackage("dev.cay..")
                .and()
                .resideOutsideOfPackages(GENERATED)
                .should()
                .haveNameNotMatching(".*(Impl|Util|Utils|Manager|Helper)")
                .check(CAY);
    }

    @Test
    void everyPackageSaysWhatItIsForAndRefusesNull() {
        var silent = CAY.getPackage("dev.cay").getSubpackagesInTree().stream()
                .filter(each -> !each.getClasses().isEmpty())
                .filter(each -> !each.getName().matches("dev\\.cay\\.wire\\.(process|filesystem)"))
                .filter(each -> !each.isAnnotatedWith(NullMarked.class))
                .map(JavaPackage::getName)
                .toList();
        assertThat(silent).isEmpty();
    }
}
