package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.List;

/// Uploads: parts that do not end, names that do not fit, boundaries that are none, gzip that is broken.
final class MultipartInputs {
    private static final List<String> BOUNDARIES = List.of(
            "b", "----WebKitFormBoundary7MA4YWxkTrZu0gW", "\"quoted one\"", "a".repeat(70), "--", "\r", "'()+_,-./:=?");
    private static final List<String> NAMES =
            List.of("file", "file", "file", "file", "other", "", "fi\\\"le", "\u00e9");
    private static final List<String> METADATA = List.of("X-Metadata-a: b", "X-Metadata-: x", "X-Metadata-a: \u00e9");
    private static final Mutator MUTATOR = Mutator.of(
            "--",
            "\r\n",
            "\r\n--",
            "\n",
            "\"",
            "\\",
            ";",
            "=",
            "filename=",
            "name=",
            "Content-Disposition: form-data; ",
            "Content-Transfer-Encoding: base64\r\n",
            "filename*=UTF-8''%41",
            "\u0000",
            "\u00ff",
            "\r\n\r\n");

    private MultipartInputs() {}

    static byte[] request(Dice dice, FuzzedSandbox.Name name) {
        boolean parts = !dice.oneIn(4);
        var request = RawRequest.toSandbox(name, "POST", target(dice, parts));
        String boundary = dice.pick(BOUNDARIES);
        if (parts) {
            request.with("Content-Type", contentType(dice, boundary));
        } else if (!dice.oneIn(20)) {
            request.with("Content-Type", dice.oneIn(20) ? "application/octet-strea" : "application/octet-stream");
        }
        if (dice.oneIn(8)) {
            String[] odd = dice.pick(METADATA).split(": ", 2);
            request.with(odd[0], dice.oneIn(6) ? "m".repeat(dice.size(6000)) : odd[1]);
        }
        byte[] body = parts ? parts(dice, boundary.replace("\"", "")) : dice.bytes(dice.size(300_000));
        if (parts && dice.oneIn(2)) {
            body = MUTATOR.mutate(dice, body);
        }
        if (dice.oneIn(6)) {
            request.with("Content-Encoding", dice.oneIn(10) ? dice.pick("br", "", "gzip,gzip") : "gzip");
            body = dice.oneIn(12) ? body : RawRequest.gzip(body);
            body = dice.oneIn(5) ? MUTATOR.mutate(dice, body) : body;
        }
        return request.bytes(dice, body);
    }

    private static String target(Dice dice, boolean parts) {
        String path = parts && dice.oneIn(2) ? "" : "&path=" + RawRequest.encoded(filename(dice));
        return "/files?username=" + dice.pick("root", "user", "user", "none", "%ff", "") + path
                + (dice.oneIn(20) ? "&path=%zz&path" : "");
    }

    private static String contentType(Dice dice, String boundary) {
        return switch (dice.below(30)) {
            case 0 -> "multipart/form-data";
            case 1 -> "multipart/form-data; boundary=";
            case 2 -> "multipart/form-data; boundary=\"" + "\\".repeat(dice.size(20_000));
            case 3 -> "multipart/form-data; boundary=\"" + "x".repeat(dice.size(50_000)) + "\"";
            case 4 -> "multipart/mixed; boundary=" + boundary.replace("\r", "");
            case 5 -> "multipart/form-data; a=b; boundary=c; boundary=" + boundary.replace("\r", "");
            default -> "multipart/form-data; boundary=" + boundary.replace("\r", "x");
        };
    }

    private static byte[] parts(Dice dice, String boundary) {
        var out = new ByteArrayOutputStream();
        String mark = "--" + boundary.replace("\r", "x");
        if (dice.oneIn(8)) {
            out.writeBytes("a preamble\r\n".getBytes(ISO_8859_1));
        }
        for (int i = dice.oneIn(20) ? dice.size(300) : dice.below(4); i > 0; i--) {
            out.writeBytes((mark + (dice.oneIn(20) ? "  " : "") + "\r\n").getBytes(ISO_8859_1));
            out.writeBytes(partHead(dice).getBytes(UTF_8));
            out.writeBytes(partBody(dice, mark));
            out.writeBytes("\r\n".getBytes(ISO_8859_1));
        }
        if (!dice.oneIn(12)) {
            out.writeBytes((mark + "--\r\n").getBytes(ISO_8859_1));
        }
        return out.toByteArray();
    }

    private static String partHead(Dice dice) {
        String head = "Content-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
                .formatted(dice.pick(NAMES), filename(dice));
        if (dice.oneIn(6)) {
            head += "Content-Type: multipart/mixed; boundary=inner\r\n";
        }
        if (dice.oneIn(30)) {
            head += "X: " + "y".repeat(dice.size(30_000)) + "\r\n";
        }
        return head + "\r\n";
    }

    private static byte[] partBody(Dice dice, String mark) {
        return switch (dice.below(10)) {
            case 0 -> dice.bytes(dice.size(200_000));
            case 1 ->
                ("\r\n" + mark.substring(0, dice.below(mark.length() + 1)))
                        .repeat(1 + dice.size(50))
                        .getBytes(ISO_8859_1);
            case 2 -> Mutator.repeated("\r\n-".getBytes(ISO_8859_1), dice.size(40_000));
            case 3 -> "--inner\r\n\r\nx\r\n--inner--".getBytes(ISO_8859_1);
            case 4 -> new byte[0];
            default -> dice.bytes(dice.size(500));
        };
    }

    private static String filename(Dice dice) {
        return switch (dice.below(16)) {
            case 0 -> "n".repeat(dice.size(20_000));
            case 1 -> "\u00e9".repeat(dice.size(3_000));
            case 2 -> "d/".repeat(dice.size(3_000)) + "x";
            case 3 -> "\\\"".repeat(dice.size(9_000));
            case 4 -> new PathStrings(dice).next();
            default -> "/tmp/up/" + dice.below(50);
        };
    }
}
