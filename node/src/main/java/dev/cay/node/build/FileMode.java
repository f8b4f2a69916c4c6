package dev.cay.node.build;

/// Permission bits as `chmod` takes them: `755`, or changes like `u+x,go-w`.
final class FileMode {
    private static final int SET_USER = 04000;
    private static final int SET_GROUP = 02000;
    private static final int STICKY = 01000;

    private FileMode() {}

    /// @param text   checked before
    /// @param before the bits that changes begin with
    static int apply(String text, int before, boolean directory) {
        if (text.matches("[0-7]{3,4}")) {
            return Integer.parseInt(text, 8);
        }
        int mode = before;
        for (String change : text.split(",")) {
            mode = change(change, mode, directory);
        }
        return mode;
    }

    private static int change(String change, int mode, boolean directory) {
        int at = 0;
        while ("ugoa".indexOf(change.charAt(at)) >= 0) {
            at++;
        }
        String who = at == 0 ? "a" : change.substring(0, at);
        char operator = change.charAt(at);
        boolean user = who.contains("u") || who.contains("a");
        boolean group = who.contains("g") || who.contains("a");
        boolean others = who.contains("o") || who.contains("a");
        int each = (user ? 0100 : 0) | (group ? 0010 : 0) | (others ? 0001 : 0);
        int bits = 0;
        for (char permission : change.substring(at + 1).toCharArray()) {
            bits |= switch (permission) {
                case 'r' -> each * 4;
                case 'w' -> each * 2;
                case 'x' -> each;
                case 'X' -> directory || (mode & 0111) != 0 ? each : 0;
                case 's' -> (user ? SET_USER : 0) | (group ? SET_GROUP : 0);
                case 't' -> STICKY;
                default -> 0;
            };
        }
        return switch (operator) {
            case '+' -> mode | bits;
            case '-' -> mode & ~bits;
            default -> (mode & ~(each * 7)) | bits;
        };
    }
}
