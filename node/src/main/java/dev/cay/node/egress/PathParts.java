package dev.cay.node.egress;

/// What all connections of the path share.
///
/// @param bridge leads to the HTTP server that answers instead of servers outside
/// @param gate   is that server
record PathParts(Upstreams upstreams, HttpBridge bridge, HttpGate gate, Relays relays) {}
