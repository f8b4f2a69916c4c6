package dev.cay.node.host;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.Inet4Address;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/// Hands out slots in turn, and knows the names this instance uses on the host. Thread-safe.
///
/// A released slot is the last to be taken again, because the kernel and peers still remember connections of its
/// address.
///
/// The range's first address is the gateway; slot 0 has the third, so that none ends in 0.
public final class HostPlan {
    /// Port of the gateway address to which TCP of sandboxes is redirected that takes the path through the
    /// node. The same after each start, as rules of a sandbox outlive the daemon.
    public static final int EGRESS_PORT = 15_053;

    private static final int FIRST = 2;

    /// More than a machine can run, and few enough that several instances find uids: each slot has 65,536.
    private static final int MOST = 8192;

    /// An interface name has 15 characters, and up to four of them are the slot's index.
    private static final Pattern INSTANCE = Pattern.compile("[a-z0-9]{1,7}");

    private final String instance;
    private final int uidBase;
    private final int network;
    private final int prefix;
    private final int capacity;
    private final BitSet taken = new BitSet();
    private int next;

    /// @param range like `10.200.0.0/16`
    public HostPlan(String instance, int uidBase, String range) {
        if (!INSTANCE.matcher(instance).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "instance must be 1 to 7 lower case letters or digits: " + instance);
        }
        this.instance = instance;
        this.uidBase = uidBase;
        int slash = range.indexOf('/');
        this.prefix = Integer.parseInt(range.substring(slash + 1));
        this.network = parse(range.substring(0, slash)) & (-1 << (32 - prefix));
        long addresses = 1L << (32 - prefix);
        long ranges = (0xffff_ffffL - Integer.toUnsignedLong(uidBase)) / Slot.UIDS;
        this.capacity = (int) Math.min(MOST, Math.min(addresses - FIRST - 1, ranges));
    }

    public String instance() {
        return instance;
    }

    /// The prefix of this instance's interfaces, by which the firewall judges. The hyphen keeps instance `a` from
    /// judging the interfaces of instance `ab`.
    public String interfacePrefix() {
        return "cay" + instance + "-";
    }

    public String firewallTable() {
        return "cay_" + instance;
    }

    /// Name of the table with the rules of one sandbox.
    public String egressTable(String veth) {
        return firewallTable() + "_" + veth.substring(interfacePrefix().length());
    }

    /// The link of the sandbox with this table; empty if it belongs to no sandbox of this instance.
    public Optional<String> vethOfTable(String table) {
        String prefix = firewallTable() + "_";
        return table.startsWith(prefix)
                ? Optional.of(interfacePrefix() + table.substring(prefix.length()))
                : Optional.empty();
    }

    /// Parent of all sandboxes' cgroups, relative to each hierarchy's root.
    public String cgroup() {
        return "/cay-" + instance;
    }

    /// First uid of its sandboxes.
    public long uidBase() {
        return Integer.toUnsignedLong(uidBase);
    }

    public long uidCount() {
        return (long) capacity * Slot.UIDS;
    }

    public String gateway() {
        return format(network + 1);
    }

    /// All addresses of this instance, like `10.200.0.0/16`.
    public String range() {
        return format(network) + "/" + prefix;
    }

    /// Whether an address is a sandbox's; the gateway is not.
    public boolean isSandbox(Inet4Address address) {
        int value = ByteBuffer.wrap(address.getAddress()).getInt();
        return (value & (-1 << (32 - prefix))) == network && value - network >= FIRST;
    }

    /// Name of the link of the sandbox with this address.
    public String veth(Inet4Address address) {
        return veth(ByteBuffer.wrap(address.getAddress()).getInt() - network - FIRST);
    }

    /// @param relief frees a slot when all are taken, or returns false
    public Slot take(BooleanSupplier relief) {
        while (true) {
            var free = takeFree();
            if (free.isPresent()) {
                return free.get();
            }
            if (!relief.getAsBoolean()) {
                throw new CayException(
                        ErrorKind.UNAVAILABLE,
                        "this machine has no room for another sandbox: all %d slots are taken; kill sandboxes, or widen network.range"
                                .formatted(capacity));
            }
        }
    }

    public Slot take() {
        return take(() -> false);
    }

    private synchronized Optional<Slot> takeFree() {
        int index = taken.nextClearBit(next);
        if (index >= capacity) {
            index = taken.nextClearBit(0);
        }
        if (index >= capacity) {
            return Optional.empty();
        }
        next = index + 1;
        return Optional.of(claim(index));
    }

    /// Takes a certain slot, for a sandbox that exists already.
    public synchronized Slot claim(int index) {
        if (index < 0 || index >= capacity) {
            throw new CayException(ErrorKind.CONFLICT, "there is no slot " + index);
        }
        if (taken.get(index)) {
            throw new CayException(ErrorKind.CONFLICT, "slot " + index + " is taken");
        }
        taken.set(index);
        next = Math.max(next, index + 1);
        return new Slot(index, uidBase + index * Slot.UIDS, format(network + FIRST + index), gateway(), veth(index));
    }

    /// Most sandboxes at once.
    public int capacity() {
        return capacity;
    }

    public synchronized int taken() {
        return taken.cardinality();
    }

    public synchronized void release(Slot slot) {
        taken.clear(slot.index());
    }

    /// Runs an action on the link of a free slot, which cannot be taken meanwhile.
    public void withFree(String veth, Runnable action) {
        int index = index(veth);
        if (index < 0 || index >= capacity) {
            // No slot can get that name.
            action.run();
            return;
        }
        Slot mine;
        try {
            mine = claim(index);
        } catch (CayException taken) {
            return;
        }
        try {
            action.run();
        } finally {
            release(mine);
        }
    }

    private int index(String veth) {
        try {
            return Integer.parseInt(veth.substring(interfacePrefix().length()), 36);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private String veth(int index) {
        return interfacePrefix() + Integer.toString(index, 36);
    }

    private static int parse(String address) {
        int value = 0;
        for (String part : address.split("\\.", -1)) {
            value = value << 8 | Integer.parseInt(part);
        }
        return value;
    }

    private static String format(int address) {
        return "%d.%d.%d.%d".formatted(address >>> 24, address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
    }
}
