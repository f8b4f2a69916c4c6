package dev.cay.tls;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.jcajce.provider.asymmetric.ec.KeyPairGeneratorSpi;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/// Makes keys with their certificates: EC P-256, as every client knows it and it is quick.
///
/// A class of its own, because checking the signatures of Bouncy Castle's archives takes a quarter of a second. A
/// daemon that has its certificates does not load it.
final class CertificateIssuer {
    private static final Duration AUTHORITY_LIFE = Duration.ofDays(3650);
    /// Some clients refuse server certificates that live longer than 398 days.
    private static final Duration SERVER_LIFE = Duration.ofDays(365);
    /// Clocks of clients differ from ours.
    private static final Duration BACKDATED = Duration.ofDays(1);

    private CertificateIssuer() {}

    /// Makes a certificate authority.
    ///
    /// @param domain the domain it may sign for, besides `localhost` and loopback. Many clients trust the
    ///               authority, so a stolen key must not let a thief pose as other hosts
    static SigningKeys authority(String domain, Instant now) throws GeneralSecurityException {
        return authority("Cay local authority", permitted(domain), now);
    }

    /// Makes an authority that may sign for every host.
    ///
    /// @param number distinguishes it from authorities of other installations, because clients find authorities by
    ///               name
    static SigningKeys unlimitedAuthority(String number, Instant now) throws GeneralSecurityException {
        return authority("Cay egress authority " + number, null, now);
    }

    private static SigningKeys authority(String commonName, @Nullable NameConstraints limits, Instant now)
            throws GeneralSecurityException {
        KeyPair pair = pair();
        X500Name name = name(commonName);
        var builder = builder(name, name, pair.getPublic(), now, AUTHORITY_LIFE);
        try {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
            builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
            if (limits != null) {
                builder.addExtension(Extension.nameConstraints, true, limits);
            }
            builder.addExtension(
                    Extension.subjectKeyIdentifier,
                    false,
                    new JcaX509ExtensionUtils().createSubjectKeyIdentifier(pair.getPublic()));
        } catch (CertIOException e) {
            throw new GeneralSecurityException(e);
        }
        return new SigningKeys(pair.getPrivate(), signed(builder, pair.getPrivate()));
    }

    static SigningKeys server(SigningKeys ca, String domain, Instant now) throws GeneralSecurityException {
        KeyPair pair = pair();
        var names = alternatives(domain);
        return new SigningKeys(pair.getPrivate(), server(ca, pair.getPublic(), name(domain), names, now, SERVER_LIFE));
    }

    /// A certificate for one host, for a key that several of them share.
    ///
    /// @param host a name or an address
    static X509Certificate leaf(SigningKeys ca, PublicKey key, String host, Instant now, Duration life)
            throws GeneralSecurityException {
        boolean address = host.matches("[0-9.]+") || host.contains(":");
        var name = new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, host);
        // A common name has at most 64 characters, and clients no longer use it.
        return server(ca, key, name("Cay egress"), new GeneralNames(name), now, life);
    }

    /// A key that signs often: see {@link EllipticSignatures}.
    static KeyPair busyPair() throws GeneralSecurityException {
        return pair(new KeyPairGeneratorSpi.EC());
    }

    static KeyPair pair() throws GeneralSecurityException {
        return pair(KeyPairGenerator.getInstance("EC"));
    }

    private static KeyPair pair(KeyPairGenerator generator) throws GeneralSecurityException {
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    private static X509Certificate server(
            SigningKeys ca, PublicKey key, X500Name subject, GeneralNames names, Instant now, Duration life)
            throws GeneralSecurityException {
        X500Name issuer =
                X500Name.getInstance(ca.certificate().getSubjectX500Principal().getEncoded());
        var builder = builder(issuer, subject, key, now, life);
        var extensions = new JcaX509ExtensionUtils();
        try {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
            builder.addExtension(
                    Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
            builder.addExtension(Extension.subjectAlternativeName, false, names);
            builder.addExtension(
                    Extension.authorityKeyIdentifier,
                    false,
                    extensions.createAuthorityKeyIdentifier(ca.certificate().getPublicKey()));
        } catch (CertIOException e) {
            throw new GeneralSecurityException(e);
        }
        return signed(builder, ca.key());
    }

    private static X500Name name(String commonName) {
        return new X500NameBuilder(BCStyle.INSTANCE)
                .addRDN(new ASN1ObjectIdentifier("2.5.4.3"), commonName)
                .build();
    }

    private static X509v3CertificateBuilder builder(
            X500Name issuer, X500Name subject, PublicKey key, Instant now, Duration life) {
        return new JcaX509v3CertificateBuilder(
                issuer,
                new BigInteger(127, new SecureRandom()),
                Date.from(now.minus(BACKDATED)),
                Date.from(now.plus(life)),
                subject,
                key);
    }

    /// Host names alone. Clients built on BoringSSL refuse a server with an address in its certificate when the
    /// authority's addresses are limited, and loopback addresses are in it.
    private static NameConstraints permitted(String domain) {
        return new NameConstraints(
                new GeneralSubtree[] {
                    new GeneralSubtree(new GeneralName(GeneralName.dNSName, domain)),
                    new GeneralSubtree(new GeneralName(GeneralName.dNSName, "localhost"))
                },
                null);
    }

    private static GeneralNames alternatives(String domain) {
        return new GeneralNames(new GeneralName[] {
            new GeneralName(GeneralName.dNSName, domain),
            new GeneralName(GeneralName.dNSName, "*." + domain),
            new GeneralName(GeneralName.dNSName, "localhost"),
            new GeneralName(GeneralName.dNSName, "*.localhost"),
            new GeneralName(GeneralName.iPAddress, "127.0.0.1"),
            new GeneralName(GeneralName.iPAddress, "::1")
        });
    }

    private static X509Certificate signed(X509v3CertificateBuilder builder, PrivateKey key)
            throws GeneralSecurityException {
        try {
            var signer = new JcaContentSignerBuilder("SHA256withECDSA").build(key);
            return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
        } catch (OperatorCreationException e) {
            throw new GeneralSecurityException("cannot sign", e);
        }
    }
}
