package dev.cay.runner;

/// Where bytes may be cut without cutting a character.
final class Utf8 {
    private Utf8() {}

    /// How many of these bytes do not belong to a last character that lacks its end.
    static int completeLength(byte[] bytes) {
        for (int back = 1; back <= Math.min(3, bytes.length); back++) {
            int b = bytes[bytes.length - back] & 0xff;
            if (b < 0x80) {
                return bytes.length;
            }
            if (b >= 0xc0) {
                return length(b) > back ? bytes.length - back : bytes.length;
            }
        }
        return bytes.length;
    }

    private static int length(int first) {
        if (first >= 0xf0) {
            return 4;
        }
        return first >= 0xe0 ? 3 : 2;
    }
}
