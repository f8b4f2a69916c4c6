package dev.cay.tls;

import java.security.Provider;
import java.security.Security;
import java.util.List;
import java.util.Map;

/// ECDSA signatures by Bouncy Castle, for TLS that this process opens: the JDK's take three to six times as long where
/// the processor has no instructions for them. Each of its TLS handshakes signs once, or checks two or three.
///
/// Nothing else of Bouncy Castle is offered: its ciphers and digests are slower than the JDK's. It signs only with its
/// own keys, which have precomputed values; it verifies with all keys.
final class EllipticSignatures extends Provider {
    private static final String CLASS = "org.bouncycastle.jcajce.provider.asymmetric.ec.SignatureSpi$ecDSA";
    private static final String KEYS =
            "java.security.interfaces.ECPublicKey" + "|org.bouncycastle.jcajce.provider.asymmetric.ec.BCECPrivateKey";
    private static final EllipticSignatures ONLY = new EllipticSignatures();

    private EllipticSignatures() {
        super("CayEcdsa", "1", "ECDSA by Bouncy Castle");
        for (String bits : List.of("256", "384", "512")) {
            var keys = Map.of("SupportedKeyClasses", KEYS);
            putService(new Service(this, "Signature", "SHA" + bits + "withECDSA", CLASS + bits, List.of(), keys));
        }
    }

    /// Prefers them from now on. Does nothing at a second call.
    static void prefer() {
        Security.insertProviderAt(ONLY, 1);
    }
}
