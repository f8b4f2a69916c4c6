package dev.cay.node.mcp;

/// What an operator decides about gateways.
///
/// @param repositories where servers lie that users bring themselves; ends in a slash
/// @param metaTools    for gateways whose user does not choose
/// @param url          where browsers of users reach the API of this Cay, without a slash at its end
public record GatewayRules(String repositories, MetaChoice metaTools, String url) {}
