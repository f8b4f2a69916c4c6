package dev.cay.node.host;

/// A sandbox's place on the host: everything that must differ between two sandboxes follows from its index.
///
/// @param uidBase  first of the 65,536 host uids and gids that are the sandbox's own
/// @param address  IPv4 address by which the host knows the sandbox
/// @param gateway  IPv4 address of the host as the sandbox sees it, the same for all
/// @param veth     name of the host's end of the sandbox's link, at most 15 characters
public record Slot(int index, int uidBase, String address, String gateway, String veth) {
    /// Address of the sandbox as it sees itself; the same in all, so that a restored one need not notice.
    public static final String INNER_ADDRESS = "169.254.0.21";

    public static final int UIDS = 65_536;
}
