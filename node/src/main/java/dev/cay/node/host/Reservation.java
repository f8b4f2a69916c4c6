package dev.cay.node.host;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A name, uids, addresses and ports that nothing else on this host has, for a test or a measurement. They are reserved
/// while the process that took them lives, whether or not a daemon uses them, and stay on record until everything that
/// was made with them has been removed.
///
/// @param claim  the reserved resources; a daemon with this instance and state directory may join with it
/// @param keeper the process that took it, as {@link HostProcess} writes it
/// @param run    the `cay test` it belongs to, in the same form; when that has ended the reservation is abandoned, too
public record Reservation(
        HostClaim claim, String keeper, @Nullable String run) {
    /// Environment variable of all processes of one `cay test`: the process of the command itself.
    public static final String RUN = "_CAY_TEST_RUN";

    /// The range of a Cay with default settings, which is never reserved.
    private static final AddressRange DEFAULT_RANGE = AddressRange.parse("10.200.0.0/16");

    private static final AddressRange LOWEST = AddressRange.parse("10.201.0.0/16");
    private static final AddressRange HIGHEST = AddressRange.parse("10.255.0.0/16");
    private static final long[][] UIDS = {{200_000_000, 1_000_000_000}, {1_536_870_912, 1L << 31}};

    /// Below the kernel's range for outgoing connections.
    private static final int FIRST_PORT = 15_000;

    private static final int PORTS = 17_000;
    private static final int NAMES = 36 * 36 * 36 * 36;

    /// Finds free resources. The search starts at random, so that addresses and names are reused late: the kernel
    /// remembers connections for a while.
    ///
    /// @param directory parent of state and run directory
    /// @param prefix    length of the prefix of the address range
    static Reservation choose(Path directory, int prefix, List<HostClaim> others, HostRoutes routes)
            throws IOException {
        String name = first(
                "name",
                names(),
                candidate -> others.stream().noneMatch(other -> other.instance().equals(candidate)));
        var range = first(
                "address range",
                ranges(prefix),
                candidate -> others.stream()
                                .noneMatch(other ->
                                        AddressRange.parse(other.range()).overlaps(candidate))
                        && routes.into(candidate)
                                .filter(route -> !route.range().isWiderThan(candidate))
                                .isEmpty());
        long count = new HostPlan(name, 0, range.toString()).uidCount();
        long base = first(
                "block of uids",
                bases(count),
                candidate -> others.stream()
                        .noneMatch(other ->
                                candidate < other.uidBase() + other.uidCount() && other.uidBase() < candidate + count));
        int port = freePort(others, 0);
        var plan = new HostPlan(name, (int) base, range.toString());
        var real = directory.toRealPath();
        return new Reservation(
                HostClaim.of(
                        plan,
                        real.resolve("state"),
                        real.resolve("run"),
                        List.of("0.0.0.0"),
                        port,
                        freePort(others, port)),
                HostProcess.current().toString(),
                System.getenv(RUN));
    }

    private static Stream<String> names() {
        return shuffled(NAMES)
                .mapToObj(n -> "t" + Integer.toString(NAMES + n, 36).substring(1));
    }

    private static Stream<AddressRange> ranges(int prefix) {
        long size = 1L << (32 - prefix);
        long lowest = Math.ceilDiv(LOWEST.first(), size) * size;
        int count = (int) ((HIGHEST.first() + (1L << 16) - lowest) / size);
        return shuffled(count)
                .mapToObj(n -> new AddressRange(lowest + n * size, prefix))
                .filter(range -> !range.overlaps(DEFAULT_RANGE));
    }

    private static Stream<Long> bases(long count) {
        return Stream.of(UIDS).flatMap(part -> {
            int blocks = (int) ((part[1] - part[0]) / count);
            return blocks == 0 ? Stream.empty() : shuffled(blocks).mapToObj(n -> part[0] + n * count);
        });
    }

    /// All numbers below the limit, once around from a random start.
    private static IntStream shuffled(int bound) {
        int start = ThreadLocalRandom.current().nextInt(bound);
        return IntStream.range(0, bound).map(n -> (n + start) % bound);
    }

    private static int freePort(List<HostClaim> others, int not) throws IOException {
        return first(
                "port",
                shuffled(PORTS).mapToObj(n -> FIRST_PORT + n),
                port -> port != not
                        && others.stream().noneMatch(other -> other.port() == port || other.tlsPort() == port)
                        && isFree(port));
    }

    private static boolean isFree(int port) {
        try (var _ = new ServerSocket(port)) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static <T> T first(String what, Stream<T> candidates, Predicate<T> free) throws IOException {
        return candidates
                .filter(free)
                .findFirst()
                .orElseThrow(() -> new IOException("this host has no free %s for a test".formatted(what)));
    }

    public String instance() {
        return claim.instance();
    }

    /// A plan with all slots free.
    public HostPlan plan() {
        return new HostPlan(claim.instance(), (int) claim.uidBase(), claim.range());
    }

    /// Whether its process has ended, so that nothing else will use or remove it.
    boolean isAbandoned() {
        return !runs(keeper) || (run != null && !runs(run));
    }

    static boolean runs(String process) {
        return HostProcess.parse(process).filter(HostProcess::runs).isPresent();
    }
}
