package dev.cay.tls;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;

/// TLS with a certificate that the operator brought, as PEM files in any of the usual forms.
public final class OperatorCertificate {
    private static final char[] NO_PASSWORD = {};

    private OperatorCertificate() {}

    public static SSLContext tls(Path chain, Path key) {
        try {
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, NO_PASSWORD);
            store.setKeyEntry("server", readKey(key), NO_PASSWORD, readChain(chain));
            var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, NO_PASSWORD);
            var tls = SSLContext.getInstance("TLS");
            tls.init(keys.getKeyManagers(), null, null);
            return tls;
        } catch (IOException | GeneralSecurityException e) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "http.certificate %s and http.key %s cannot be used: %s".formatted(chain, key, e.getMessage()),
                    e);
        }
    }

    private static Certificate[] readChain(Path file) throws IOException, GeneralSecurityException {
        try (var in = Files.newInputStream(file)) {
            var chain = CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (chain.isEmpty()) {
                throw new IOException("no certificate in " + file);
            }
            return chain.toArray(Certificate[]::new);
        }
    }

    private static PrivateKey readKey(Path file) throws IOException {
        try (var parser = new PEMParser(Files.newBufferedReader(file))) {
            var converter = new JcaPEMKeyConverter();
            // EC files may begin with a block of curve parameters.
            for (Object block = parser.readObject(); block != null; block = parser.readObject()) {
                switch (block) {
                    case PEMKeyPair pair -> {
                        return converter.getPrivateKey(pair.getPrivateKeyInfo());
                    }
                    case PrivateKeyInfo info -> {
                        return converter.getPrivateKey(info);
                    }
                    default -> {}
                }
            }
            throw new IOException("no unencrypted private key in " + file);
        }
    }
}
