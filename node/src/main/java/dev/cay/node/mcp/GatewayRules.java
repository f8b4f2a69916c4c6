package dev.cay.node.mcp;

import java.util.List;

/// What an operator decides about gateways.
///
/// @param repositories where servers lie that users bring themselves; ends in a slash
/// @param tokens       files with tokens for private ones, as `github/OWNER/NAME=FILE`
/// @param metaTools    for gateways whose user does not choose
/// @param url          where browsers of users reach the API of this Cay, without a slash at its end
public record GatewayRules(String repositories, List<String> tokens, MetaChoice metaTools, String url) {
    public GatewayRules {
        tokens = List.copyOf(tokens);
    }

    /// Without private repositories.
    public GatewayRules(String repositories, MetaChoice metaTools, String url) {
        this(repositories, List.of(), metaTools, url);
    }
}
