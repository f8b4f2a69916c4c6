package dev.cay.prove.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/// Makes something wrong of something right, byte by byte.
///
/// @param words that mean something in the language of the inputs
record Mutator(List<byte[]> words) {
    private static final int MOST = 512 << 10;
    private static final List<String> NUMBERS = List.of(
            "0",
            "-1",
            "1",
            "127",
            "255",
            "65535",
            "65536",
            "2147483647",
            "2147483648",
            "4294967295",
            "9223372036854775807",
            "18446744073709551616",
            "1e9",
            "0x10",
            "+5",
            "00",
            "NaN");

    static Mutator of(String... words) {
        return new Mutator(Stream.concat(Stream.of(words), NUMBERS.stream())
                .map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toList());
    }

    /// At least one step away from what came in; it is not changed itself.
    byte[] mutate(Dice dice, byte[] input) {
        byte[] output = input;
        for (int steps = 1 + dice.size(6); steps > 0; steps--) {
            output = step(dice, output);
        }
        return output.length > MOST ? Arrays.copyOf(output, MOST) : output;
    }

    private byte[] step(Dice dice, byte[] in) {
        int from = dice.below(in.length + 1);
        int to = Math.min(in.length, from + dice.size(64));
        return switch (dice.below(10)) {
            case 0, 1 -> flipped(dice, in);
            case 2 -> spliced(in, from, from, dice.bytes(1 + dice.size(16)));
            case 3, 4 -> spliced(in, from, from, dice.pick(words));
            case 5 -> spliced(in, from, to, dice.pick(words));
            case 6 -> spliced(in, from, to, new byte[0]);
            case 7 -> spliced(in, from, from, repeated(Arrays.copyOfRange(in, from, to), 1 + dice.size(2048)));
            case 8 -> Arrays.copyOf(in, from);
            default -> number(dice, in, from);
        };
    }

    private static byte[] flipped(Dice dice, byte[] in) {
        byte[] out = in.clone();
        if (out.length > 0) {
            out[dice.below(out.length)] ^= (byte) (1 << dice.below(8));
        }
        return out;
    }

    /// Replaces the digits that come next: lengths, counts and versions are where parsers believe too much.
    private byte[] number(Dice dice, byte[] in, int at) {
        int from = at;
        while (from < in.length && !isDigit(in[from])) {
            from++;
        }
        int to = from;
        while (to < in.length && isDigit(in[to])) {
            to++;
        }
        return spliced(in, from, to, dice.pick(NUMBERS).getBytes(StandardCharsets.US_ASCII));
    }

    private static boolean isDigit(byte one) {
        return one >= '0' && one <= '9';
    }

    static byte[] repeated(byte[] piece, int times) {
        var out = new ByteArrayOutputStream();
        for (int i = 0; i < times && out.size() < MOST; i++) {
            out.writeBytes(piece);
        }
        return out.toByteArray();
    }

    static byte[] spliced(byte[] in, int from, int to, byte[] replacement) {
        byte[] out = new byte[in.length - (to - from) + replacement.length];
        System.arraycopy(in, 0, out, 0, from);
        System.arraycopy(replacement, 0, out, from, replacement.length);
        System.arraycopy(in, to, out, from + replacement.length, in.length - to);
        return out;
    }
}
