package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.luben.zstd.Zstd;
import dev.cay.prove.fuzz.TarBytes.Header;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/// Archives of image layers: entries of all kinds under names that lead astray, with wrong bytes in some headers.
final class LayerInputs {
    private static final Mutator MUTATOR = Mutator.of(
            "\0",
            "..",
            "/",
            "ustar",
            "SCHILY.xattr.",
            "trusted.overlay.opaque",
            "path=",
            "size=",
            "GNU.sparse.map=",
            ".wh.",
            "\n",
            " ",
            "=");
    private static final List<String> NAMES =
            List.of(("a b dir/ dir/b dir/sub/c ./d ./ /abs //e//b dir/../../x ../outside/secret"
                            + " ../../outside/new ../below/dir/b up/outside/secret up/x out/new out/secret in/new in/../../y .wh.a .wh.dir dir/.wh.b"
                            + " .wh..wh..opq dir/.wh..wh..opq in/.wh..wh..opq up/.wh..wh..opq old/ old/file old/.wh.file opaque/x"
                            + " opaque/.wh.file hidden/x .wh.hidden dir/.wh..wh.plnk gone up/.wh.outside out/.wh.secret")
                    .split(" "));
    private static final List<String> ODD_NAMES = List.of(
            "a/x / . .. loop/x link/x .wh. .wh.. .wh... dir/.wh./x a/.wh.x dir old in out up link/.wh..wh..opq .wh..wh..opq/x"
                    .split(" "));
    private static final List<String> TARGETS =
            List.of(("a dir dir/b .. ../outside ../../outside/secret / /dir /proc/self/root/tmp"
                            + " /proc/self/cwd/.. in . ./././dir dir/../../.. up old/file hidden/file")
                    .split(" "));
    private static final List<String> LINKED = List.of("a", "b", "dir/b", "./a", "/b", "dir/../a");
    private static final List<String> ODD_TARGETS = List.of(
            "",
            "x\0y",
            "loop",
            "link",
            "../../../outside/secret",
            "dir",
            "/",
            "old/file",
            "hidden/file",
            "in/../b",
            "out/secret");
    private static final List<String> ATTRIBUTES =
            List.of("user.mine", "user.x", "security.selinux", "system.posix_acl_access");
    private static final List<String> ODD_ATTRIBUTES = List.of(
            "user.",
            "user.overlay.opaque",
            "user.overlay.whiteout",
            "trusted.overlay.opaque",
            "trusted.overlay.redirect",
            "trusted.x",
            "security.capability",
            "",
            "\0",
            "user.a\0b");

    private final Dice dice;
    private final String outside;
    /// One part in so many is odd. An archive ends at the first one that is refused, so most have few.
    private final int oddity;

    /// @param outside absolute path of a directory that no layer may reach
    LayerInputs(Dice dice, String outside) {
        this.dice = dice;
        this.outside = outside;
        this.oddity = dice.pick(4, 60, 5000, 5000);
    }

    private String pick(List<String> plain, List<String> odd) {
        return dice.pick(dice.oneIn(oddity) ? odd : plain);
    }

    /// A layer as a registry would send it, often broken and sometimes compressed.
    byte[] layer() throws IOException {
        byte[] tar = archive();
        boolean broken = dice.oneIn(oddity);
        return switch (dice.below(8)) {
            case 0 -> broken ? MUTATOR.mutate(dice, gzip(tar)) : gzip(tar);
            case 1 -> broken ? MUTATOR.mutate(dice, Zstd.compress(tar)) : Zstd.compress(tar);
            case 2 -> broken ? MUTATOR.mutate(dice, tar) : tar;
            case 3 -> broken ? zeros() : tar;
            default -> tar;
        };
    }

    /// The uncompressed archive, in which at most headers are wrong.
    byte[] archive() {
        var tar = new TarBytes();
        // Links need something to lead to.
        for (String there : List.of("a", "b", "dir/b")) {
            tar.file(there, dice.bytes(dice.size(100)));
        }
        for (int i = 1 + dice.size(dice.oneIn(20) ? 400 : 40); i > 0; i--) {
            add(tar);
        }
        byte[] bytes = tar.bytes(!dice.oneIn(10));
        if (dice.oneIn(oddity)) {
            for (int i = 1 + dice.size(4); i > 0; i--) {
                spoil(bytes, dice.pick(tar.headers()));
            }
        }
        return bytes;
    }

    /// Changes one field of a header, which mostly gets the right checksum all the same.
    private void spoil(byte[] bytes, int header) {
        int field = dice.pick(0, 100, 108, 116, 124, 136, 156, 157, 257, 329, 337, 345, 386, 482, 483);
        bytes[header + field + dice.below(3)] =
                dice.oneIn(2) ? (byte) "079 -/.\0\u0080\u00ff".charAt(dice.below(10)) : dice.bytes(1)[0];
        if (!dice.oneIn(8)) {
            TarBytes.sign(bytes, header);
        }
    }

    private void add(TarBytes tar) {
        if (dice.oneIn(6)) {
            tar.extended(dice.oneIn(4) ? 'g' : 'x', records());
        }
        if (dice.oneIn(12)) {
            byte[] text = dice.oneIn(oddity) ? bytes("n/".repeat(dice.size(2500))) : name();
            tar.extended(dice.pick('L', 'K'), text);
        }
        byte[] none = new byte[0];
        switch (dice.below(12)) {
            case 0, 1, 2 -> {
                byte[] content = dice.bytes(dice.size(3000));
                tar.add(new Header(name(), dice.pick('0', '\0', '7')).size(content.length), content);
            }
            case 3, 4 -> tar.add(new Header(place(), '5'), none);
            case 5, 6 ->
                tar.add(new Header(bytes(dice.pick("link", "in", "up", "out", "dir/in")), '2').link(target()), none);
            case 7 -> tar.add(new Header(place(), '2').link(target()), none);
            case 8, 9 -> tar.add(new Header(place(), '1').link(bytes(pick(LINKED, ODD_TARGETS))), none);
            case 10 -> {
                boolean odd = dice.oneIn(oddity);
                var header = new Header(place(), dice.pick('3', '4', '6'));
                tar.add(header.device(dice.pick(1L, 5L, odd ? 0L : 8L), odd ? huge() : dice.pick(3L, 5L)), none);
            }
            default -> strange(tar);
        }
    }

    private void strange(TarBytes tar) {
        if (!dice.oneIn(oddity)) {
            sparse(tar);
            return;
        }
        var header = new Header(name(), dice.pick('0', '5', 'A', 'V', 'D', '7'));
        tar.add(header.number(dice.pick(100, 108, 116, 136), 8, huge()).size(huge()), dice.bytes(dice.size(600)));
    }

    private void sparse(TarBytes tar) {
        byte[] content = dice.bytes(512);
        long offset = dice.oneIn(oddity) ? huge() : dice.below(100_000);
        long size = dice.oneIn(oddity) ? huge() : offset + 512;
        if (dice.oneIn(2)) {
            tar.add(new Header(name(), 'S').size(512).sparse(size, offset, 512), content);
            return;
        }
        boolean newest = dice.oneIn(2);
        var records = new ByteArrayOutputStream();
        records.writeBytes(TarBytes.record("GNU.sparse.realsize", number(size)));
        var stored = new ByteArrayOutputStream();
        if (newest) {
            records.writeBytes(TarBytes.record("GNU.sparse.major", number(1)));
            records.writeBytes(TarBytes.record("GNU.sparse.minor", number(0)));
            byte[] map = bytes("%d\n%d\n512\n".formatted(dice.oneIn(oddity) ? huge() : 1, offset));
            stored.writeBytes(Arrays.copyOf(map, 512));
        } else {
            records.writeBytes(TarBytes.record("GNU.sparse.map", bytes(offset + ",512")));
        }
        tar.extended('x', records.toByteArray());
        stored.writeBytes(content);
        tar.add(new Header(name(), '0').size(stored.size()), stored.toByteArray());
    }

    private byte[] records() {
        var records = new ByteArrayOutputStream();
        for (int i = 1 + dice.size(6); i > 0; i--) {
            records.writeBytes(dice.oneIn(oddity) ? oddRecord() : record());
        }
        return dice.oneIn(oddity) ? MUTATOR.mutate(dice, records.toByteArray()) : records.toByteArray();
    }

    private byte[] record() {
        return switch (dice.below(5)) {
            case 0 -> TarBytes.record("path", name());
            case 1 -> TarBytes.record("linkpath", target());
            case 2 -> TarBytes.record(dice.pick("uid", "gid"), number(dice.pick(0L, 1000L, 65_535L)));
            case 3 -> TarBytes.record("mtime", bytes(dice.pick("1.5", "-1.5", "999999999999999", "1.")));
            default -> TarBytes.record("SCHILY.xattr." + pick(ATTRIBUTES, ODD_ATTRIBUTES), dice.bytes(dice.size(200)));
        };
    }

    private byte[] oddRecord() {
        return switch (dice.below(4)) {
            case 0 -> TarBytes.record(dice.pick("size", "uid", "gid"), number(huge()));
            case 1 -> TarBytes.record("mtime", bytes(dice.pick("1e9", ".", "-", "9".repeat(16), "")));
            case 2 ->
                TarBytes.record(
                        "GNU.sparse." + dice.pick("numbytes", "offset", "numblocks", "size", "major", "realsize"),
                        number(huge()));
            default -> TarBytes.record("GNU.sparse.map", bytes(dice.pick("", ",", "0", "0,1,2", "9,9,1,1", "x,y")));
        };
    }

    private byte[] name() {
        if (dice.oneIn(oddity)) {
            return switch (dice.below(3)) {
                case 0 -> bytes("n".repeat(dice.size(5000)));
                case 1 -> bytes("deep/".repeat(dice.size(700)) + "x");
                default -> bytes(dice.pick(ODD_NAMES));
            };
        }
        return switch (dice.below(16)) {
            case 0 -> bytes(outside + dice.pick("/secret", "/new"));
            case 1 -> bytes("deep/".repeat(dice.size(60)) + "x");
            case 2 -> dice.oneIn(2) ? bytes("ünï") : new byte[] {'n', (byte) 0xff, (byte) 0xc3};
            default -> bytes(dice.pick(NAMES));
        };
    }

    /// A name of something that is no file. Whiteouts are files.
    private byte[] place() {
        byte[] name = name();
        return dice.oneIn(oddity) || !new String(name, ISO_8859_1).matches("(.*/)?\\.wh.*|.*/?\\./")
                ? name
                : bytes("dir/place");
    }

    private byte[] target() {
        return switch (dice.below(10)) {
            case 0 -> bytes(outside);
            case 1 -> bytes(outside + "/secret");
            case 2 -> bytes("../".repeat(dice.size(60)) + outside.substring(1));
            default -> bytes(pick(TARGETS, ODD_TARGETS));
        };
    }

    private long huge() {
        return dice.pick(
                0L,
                1L,
                -1L,
                511L,
                65_536L,
                1L << 31,
                1L << 33,
                1L << 40,
                1L << 62,
                Long.MAX_VALUE,
                Long.MIN_VALUE,
                dice.number());
    }

    private static byte[] number(long value) {
        return bytes(Long.toString(value));
    }

    /// Grows to a thousand times its size.
    private byte[] zeros() throws IOException {
        return gzip(new TarBytes()
                .add(new Header(bytes("zeros"), '0').size(8 << 20), new byte[8 << 20])
                .bytes(true));
    }

    static byte[] gzip(byte[] content) throws IOException {
        var zipped = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(zipped)) {
            gzip.write(content);
        }
        return zipped.toByteArray();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(text.chars().allMatch(c -> c < 256) ? ISO_8859_1 : UTF_8);
    }
}
