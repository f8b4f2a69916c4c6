package dev.cay.node.mcp;

import java.util.List;

/// The operator's settings of gateways.
///
/// @param repositories base address of users' own servers; ends in a slash
/// @param tokens       files with tokens for private repositories, as `github/OWNER/NAME=FILE`
/// @param metaTools    default for gateways
/// @param url          address at which users' browsers reach the API of this Cay, without a slash at its end
public record GatewayRules(String repositories, List<String> tokens, MetaChoice metaTools, String url) {
    public GatewayRules {
        tokens = List.copyOf(tokens);
    }

    /// Rules without private repositories.
    public GatewayRules(String repositories, MetaChoice metaTools, String url) {
        this(repositories, List.of(), metaTools, url);
    }
}
