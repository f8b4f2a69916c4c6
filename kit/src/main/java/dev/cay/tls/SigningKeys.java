package dev.cay.tls;

import java.io.IOException;
import java.security.PrivateKey;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;

/// A private key with its certificate.
record SigningKeys(PrivateKey key, X509Certificate certificate) {
    /// A kind of name, as numbered in certificates.
    private static final int DNS_NAME = 2;

    /// Whether an authority may sign for the domain. One of an older Cay has no limits.
    static boolean maySign(X509Certificate authority, String domain) throws IOException {
        var wanted = new X509CertSelector();
        wanted.addPathToName(DNS_NAME, domain);
        return wanted.match(authority);
    }
}
