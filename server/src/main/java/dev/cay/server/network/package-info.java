/// Network settings of sandboxes, as clients, teams and the operator send them: {@link
/// dev.cay.server.network.NetworkReader} reads and checks requests, {@link dev.cay.server.network.TeamNetworks} has the
/// default of each team. The node enforces them.
@NullMarked
package dev.cay.server.network;

import org.jspecify.annotations.NullMarked;
