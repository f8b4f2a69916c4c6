package dev.cay.server.network;

import dev.cay.server.access.SandboxTokens;
import dev.cay.server.store.SealedColumn;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;

/// Seals passwords of egress proxies for the database.
///
/// Equal passwords give equal results: a create that is repeated must be known as the same.
final class ProxyPasswords {
    private static final String ROW = "egress-proxy";

    private final SealedColumn column;

    ProxyPasswords(SandboxTokens tokens) {
        this.column = new SealedColumn(tokens.sealingKey(ROW), new SecureRandom());
    }

    String seal(String password) {
        return column.sealEqually(ROW, password);
    }

    String open(String text) {
        try {
            return column.open(ROW, text);
        } catch (GeneralSecurityException e) {
            throw new CayException(
                    ErrorKind.INTERNAL,
                    "the password of the egress proxy cannot be opened, as the secret file of this Cay was replaced; set 'egressProxy' again",
                    e);
        }
    }
}
