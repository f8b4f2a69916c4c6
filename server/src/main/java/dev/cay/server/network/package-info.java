/// What sandboxes may reach and who may reach them, as clients, teams and the operator say it: reads and checks
/// requests ({@link dev.cay.server.network.NetworkReader}), and knows the default of each team ({@link
/// dev.cay.server.network.TeamNetworks}). The node enforces it.
@NullMarked
package dev.cay.server.network;

import org.jspecify.annotations.NullMarked;
