package dev.cay.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/// One key and its certificates, read from PEM and shown to every TLS client.
///
/// Does not use a key store: key stores are slow to open by design, which delays every start, and protect nothing when
/// the password is stored beside them. It also avoids Bouncy Castle, whose signed jar is slow to verify.
final class ServerIdentity extends X509ExtendedKeyManager {
    private static final String ALIAS = "server";
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----", Pattern.DOTALL);

    private final PrivateKey key;
    private final List<X509Certificate> chain;

    /// @param chain the server's own certificate first
    ServerIdentity(PrivateKey key, List<X509Certificate> chain) {
        this.key = key;
        this.chain = List.copyOf(chain);
    }

    /// @param pem an EC key as PKCS#8 and at least one certificate
    static ServerIdentity read(String pem) throws IOException, GeneralSecurityException {
        return new ServerIdentity(readKey(pem), readCertificates(pem.substring(pem.indexOf("-----BEGIN CERTIFICATE"))));
    }

    static String pem(String type, byte[] bytes) {
        String body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(bytes);
        return "-----BEGIN " + type + "-----\n" + body + "\n-----END " + type + "-----\n";
    }

    static PrivateKey readKey(String pem) throws IOException, GeneralSecurityException {
        var body = KEY.matcher(pem);
        if (!body.find()) {
            throw new IOException("no private key");
        }
        byte[] bytes = Base64.getMimeDecoder().decode(body.group(1));
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(bytes));
    }

    static List<X509Certificate> readCertificates(String pem) throws GeneralSecurityException {
        var in = new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII));
        return CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                .map(X509Certificate.class::cast)
                .toList();
    }

    X509Certificate certificate() {
        return chain.getFirst();
    }

    /// The issuing certificate, if the file has it.
    X509Certificate issuer() {
        return chain.getLast();
    }

    /// The host names and addresses the certificate speaks for.
    List<String> names() throws GeneralSecurityException {
        var names = certificate().getSubjectAlternativeNames();
        return names == null
                ? List.of()
                : names.stream().map(entry -> String.valueOf(entry.get(1))).toList();
    }

    SSLContext tls() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {this}, null, null);
        return context;
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return keyType.equals(key.getAlgorithm()) ? ALIAS : null;
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return chooseEngineServerAlias(keyType, issuers, null);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return keyType.equals(key.getAlgorithm()) ? new String[] {ALIAS} : null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return chain.toArray(X509Certificate[]::new);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return key;
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }
}
