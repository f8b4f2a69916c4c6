package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.util.List;

/// Messages of any kind, filled by chance, in both forms in which they travel.
final class RpcMessages {
    private static final int DEEPEST = 4;
    private static final List<Integer> NUMBERS = List.of(0, 1, 2, 3, 7, 24, 80, 65535, 65536, Integer.MAX_VALUE, -1);
    private static final List<String> COMMANDS = List.of(
            "/bin/true",
            "/bin/echo",
            "/bin/cat",
            "sh",
            "/bin/sh",
            "/bin/sleep",
            "env",
            "/nonexistent",
            "",
            "/",
            "/etc/passwd",
            "true\u0000",
            "./x");
    private static final List<String> WORDS = List.of(
            "hi",
            "-c",
            "echo hi; exit 3",
            "kill -9 $$",
            "head -c 100000 /dev/zero",
            "",
            "1",
            "0.1",
            "=",
            "\u0000",
            "\ud83d\ude00",
            "PATH");

    private static final Mutator JSON_MUTATOR = Mutator.of(
            "{",
            "}",
            "[",
            "]",
            "\"",
            ":",
            ",",
            "null",
            "true",
            "[]",
            "{}",
            "\\u0000",
            "\\ud800",
            "\\",
            "1e999",
            "-0",
            "\"\":",
            "\u00ff",
            "\"process\":",
            "\"path\":",
            "\"pid\":",
            "\"@type\":");
    private static final Mutator PROTO_MUTATOR =
            Mutator.of("\n", "\u0012", "\u000b", "\u0000", "\u00ff", "\u0080", "\b\u00ff\u00ff\u00ff\u00ff\u000f");

    private final Dice dice;
    private final Descriptor kind;

    RpcMessages(Dice dice, Descriptor kind) {
        this.dice = dice;
        this.kind = kind;
    }

    /// One message in bytes, mostly readable.
    byte[] next(boolean json) {
        if (dice.oneIn(40)) {
            return nested(json);
        }
        var message = message(kind, 0);
        byte[] bytes = json ? json(message) : message.toByteArray();
        if (dice.oneIn(2)) {
            return bytes;
        }
        return (json ? JSON_MUTATOR : PROTO_MUTATOR).mutate(dice, bytes);
    }

    /// Far deeper than any message goes.
    private byte[] nested(boolean json) {
        int depth = 1 + dice.size(200_000);
        if (!json) {
            return Mutator.repeated(new byte[] {dice.pick((byte) 0x0b, (byte) 0x0a)}, depth);
        }
        String begin = dice.pick("[", "{\"process\":", "{\"x\":[", "{\"process\":{\"envs\":");
        return Mutator.repeated(begin.getBytes(UTF_8), depth);
    }

    private static byte[] json(Message message) {
        try {
            return JsonFormat.printer().print(message).getBytes(UTF_8);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a message that has no JSON", e);
        }
    }

    private Message message(Descriptor type, int depth) {
        var builder = DynamicMessage.newBuilder(type);
        for (var field : type.getFields()) {
            if (depth > DEEPEST || dice.oneIn(4)) {
                continue;
            }
            if (!field.isRepeated()) {
                builder.setField(field, value(field, depth));
                continue;
            }
            for (int i = dice.size(4); i > 0; i--) {
                builder.addRepeatedField(field, value(field, depth));
            }
        }
        return builder.build();
    }

    private Object value(FieldDescriptor field, int depth) {
        return switch (field.getJavaType()) {
            case INT -> dice.pick(NUMBERS);
            case LONG -> dice.number();
            case FLOAT -> 1.5f;
            case DOUBLE -> Double.NaN;
            case BOOLEAN -> dice.oneIn(2);
            case STRING -> text(field.getName());
            case BYTE_STRING -> ByteString.copyFrom(dice.bytes(dice.size(dice.oneIn(30) ? 100_000 : 200)));
            case ENUM -> dice.pick(field.getEnumType().getValues());
            case MESSAGE -> message(field.getMessageType(), depth + 1);
        };
    }

    private String text(String field) {
        return switch (field) {
            case "cmd" -> dice.pick(COMMANDS);
            case "cwd" -> dice.pick("/", "/tmp", "", "~", "x", "/nonexistent", "/etc/passwd", "/proc/self/cwd");
            case "tag" -> dice.oneIn(20) ? "t".repeat(dice.size(5000)) : "tag-" + dice.below(6);
            case "path", "source", "destination" -> path();
            default -> dice.pick(WORDS);
        };
    }

    /// Paths have a target of their own; here a sandbox shall not be ruined at once by what moves or removes.
    private String path() {
        boolean harmless = !kind.getName().matches("(Move|Remove)Request");
        return harmless && dice.oneIn(2)
                ? new PathStrings(dice).next().replace("\ud800", "")
                : dice.pick(
                        "p/file",
                        "p/d",
                        "/tmp/x",
                        "/tmp/y",
                        "p/dir/e",
                        "p/good",
                        "p/fifo",
                        "",
                        "~/z",
                        "/tmp/" + dice.below(9));
    }
}
