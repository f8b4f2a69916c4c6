package dev.cay.node.egress;

/// The parts that all connections of the path share.
///
/// @param bridge leads to the HTTP server that answers in place of servers outside
/// @param gate   is that server
record PathParts(Upstreams upstreams, HttpBridge bridge, HttpGate gate, Openings openings, Relays relays) {}
