package dev.cay.prove.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.List;

/// Messages to a guest from a program that is not its node, or from a misbehaving node.
final class GuestKnocks {
    private static final Mutator MUTATOR = Mutator.of(
            "\u0000",
            "\u00ff",
            "\u0000\u0000\u0000\u0000",
            "\u00ff\u00ff\u00ff\u007f",
            "/bin/true",
            "\u0009\u0000\u0000\u0000\u0001");

    private final Dice dice;

    GuestKnocks(Dice dice) {
        this.dice = dice;
    }

    Player.Turn next() {
        var out = new ByteArrayOutputStream();
        if (!dice.oneIn(10)) {
            out.writeBytes(new GuestBytes()
                    .u32(dice.oneIn(10) ? (int) dice.number() : 1)
                    .frame(GuestBytes.HELLO, 1));
        }
        for (int i = dice.size(12); i > 0; i--) {
            byte[] frame =
                    request(dice.oneIn(20) ? dice.below(256) : dice.between(GuestBytes.SPAWN, GuestBytes.FORGET));
            out.writeBytes(dice.oneIn(3) ? MUTATOR.mutate(dice, frame) : frame);
        }
        byte[] bytes = dice.oneIn(4) ? MUTATOR.mutate(dice, out.toByteArray()) : out.toByteArray();
        return new Player.Turn(List.of(bytes), dice.oneIn(10) ? List.of("pipe", "file") : List.of(), false);
    }

    private byte[] request(int kind) {
        var payload = new GuestBytes();
        switch (kind) {
            case GuestBytes.SPAWN -> spawn(payload);
            case GuestBytes.SIGNAL -> payload.u32(pid()).u32(dice.pick(0, 9, 15, 64, 65, -1));
            case GuestBytes.RESIZE -> payload.u32(pid()).u16(dice.below(65536)).u16(dice.below(65536));
            case GuestBytes.LIST -> {}
            default -> payload.u32(pid());
        }
        return payload.frame(kind, dice.between(0, 20));
    }

    private void spawn(GuestBytes payload) {
        payload.u32(dice.oneIn(8) ? (int) dice.number() : dice.below(4))
                .u16(dice.size(300))
                .u16(dice.size(300))
                .u32(dice.pick(0, 0, 1000, -1))
                .u32(dice.pick(0, 1000, -1));
        int groups = dice.size(dice.oneIn(20) ? 70_000 : 3);
        payload.u32(groups);
        for (int i = 0; i < groups; i++) {
            payload.u32(i);
        }
        payload.text(dice.pick("/", "", "/nonexistent", "/tmp", "c".repeat(dice.size(5000))));
        payload.texts(dice.pick(
                List.of("/bin/true"),
                List.of(),
                List.of(""),
                List.of("true", "a".repeat(dice.size(200_000))),
                List.of("/nonexistent")));
        payload.texts(dice.pick(
                List.of(), List.of("PATH=/bin"), List.of("A", "=B", ""), List.of("X=" + "y".repeat(dice.size(9000)))));
        payload.text("t".repeat(dice.size(2000)));
    }

    private int pid() {
        return dice.pick(0, 1, 2, 3, 4, 5, 10, -1, Integer.MIN_VALUE, dice.size(500));
    }
}
