package dev.cay.node.mcp;

/// What an operator decides about gateways.
///
/// @param repositories where servers lie that users bring themselves; ends in a slash
/// @param metaTools    for gateways whose user does not choose
public record GatewayRules(String repositories, MetaChoice metaTools) {}
