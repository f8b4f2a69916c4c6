package dev.cay.node.mcp.repository;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/// The credentials of git for the host of the repositories. Its text form is empty.
record GitLogin(String user, String token) {
    /// The user that hosts expect with a token that names none.
    private static final String USUAL = "x-access-token";

    /// @param text `TOKEN` or `USER:TOKEN`
    static GitLogin parse(String text) {
        int colon = text.indexOf(':');
        return colon < 0
                ? new GitLogin(USUAL, text)
                : new GitLogin(text.substring(0, colon), text.substring(colon + 1));
    }

    /// The text without the token, in every form that HTTP uses.
    String strikeOut(String text) {
        String both = user + ":" + token;
        return text.replace(Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8)), "***")
                .replace(token, "***");
    }

    @Override
    public String toString() {
        return "GitLogin[]";
    }
}
