package dev.cay.node.image;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;

/// The name under which OpenSSL looks for a CA in a directory: a hash of the subject in a canonical form.
///
/// Computed here and not by the template's `openssl`, because programs of a template must not run on the host.
public final class SubjectHash {
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int UTF8 = 0x0c;

    private SubjectHash() {}

    /// Eight hexadecimal digits, as `openssl x509 -subject_hash` prints them.
    public static String of(String pem) throws GeneralSecurityException {
        var in = new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8));
        var certificate =
                (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        var name = open(ByteBuffer.wrap(certificate.getSubjectX500Principal().getEncoded()), SEQUENCE);
        var canonical = new ByteArrayOutputStream();
        while (name.hasRemaining()) {
            var parts = open(name, SET);
            var set = new ByteArrayOutputStream();
            while (parts.hasRemaining()) {
                set.writeBytes(part(open(parts, SEQUENCE)));
            }
            canonical.writeBytes(tagged(SET, set.toByteArray()));
        }
        byte[] digest = MessageDigest.getInstance("SHA-1").digest(canonical.toByteArray());
        return "%08x"
                .formatted(
                        ByteBuffer.wrap(digest).order(ByteOrder.LITTLE_ENDIAN).getInt());
    }

    /// The type as it is, the value as lower case UTF-8 with single spaces, if it is text at all.
    private static byte[] part(ByteBuffer part) {
        byte[] type = element(part);
        int tag = part.get(part.position()) & 0xff;
        Charset charset = switch (tag) {
            case UTF8, 0x13, 0x16, 0x1a -> StandardCharsets.UTF_8;
            case 0x14 -> StandardCharsets.ISO_8859_1;
            case 0x1e -> StandardCharsets.UTF_16BE;
            case 0x1c -> Charset.forName("UTF-32BE");
            default -> null;
        };
        byte[] value;
        if (charset == null) {
            value = element(part);
        } else {
            var content = open(part, tag);
            value = tagged(UTF8, canonical(charset.decode(content).toString()).getBytes(StandardCharsets.UTF_8));
        }
        var joined = new ByteArrayOutputStream();
        joined.writeBytes(type);
        joined.writeBytes(value);
        return tagged(SEQUENCE, joined.toByteArray());
    }

    /// Converts only ASCII letters to lower case.
    private static String canonical(String text) {
        var lower = new StringBuilder();
        text.strip()
                .replaceAll("[ \\t\\n\\x0b\\f\\r]+", " ")
                .chars()
                .map(c -> c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c)
                .forEach(c -> lower.append((char) c));
        return lower.toString();
    }

    private static ByteBuffer open(ByteBuffer in, int tag) {
        if ((in.get() & 0xff) != tag) {
            throw new IllegalArgumentException("unexpected element in a certificate's subject");
        }
        int length = length(in);
        var content = in.slice(in.position(), length);
        in.position(in.position() + length);
        return content;
    }

    private static byte[] element(ByteBuffer in) {
        int start = in.position();
        in.get();
        int length = length(in);
        byte[] whole = new byte[in.position() + length - start];
        in.position(start);
        in.get(whole);
        return whole;
    }

    private static int length(ByteBuffer in) {
        int first = in.get() & 0xff;
        if (first < 0x80) {
            return first;
        }
        int length = 0;
        for (int i = first & 0x7f; i > 0; i--) {
            length = (length << 8) | (in.get() & 0xff);
        }
        return length;
    }

    private static byte[] tagged(int tag, byte[] content) {
        var out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else if (content.length < 0x100) {
            out.write(0x81);
            out.write(content.length);
        } else {
            out.write(0x82);
            out.write(content.length >> 8);
            out.write(content.length);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }
}
