package dev.cay.prove.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// Answers of a forged guest: mostly well formed, with something wrong in them.
final class GuestLies {
    private static final Mutator MUTATOR = Mutator.of(
            "\u0000",
            "\u00ff",
            "\u0080",
            "\u0000\u0000\u0000\u0000",
            "\u0005\u0000\u0000\u0000\u0080",
            "\u007f\u00ff\u00ff\u00ff");
    private static final List<Integer> PIDS =
            List.of(0, 1, 2, 7, 7, 7, 8, 65535, Integer.MAX_VALUE, -1, Integer.MIN_VALUE);
    private static final List<String> KINDS =
            List.of("pipe", "fed", "writer", "terminal", "slave", "socket", "file", "zero", "directory", "path");

    private final Dice dice;
    private int request = 1;

    GuestLies(Dice dice) {
        this.dice = dice;
    }

    Player.Turn hello() {
        byte[] frame =
                new GuestBytes().u32(dice.oneIn(20) ? dice.pick(PIDS) : 1).frame(GuestBytes.OK, request++);
        return turn(dice.oneIn(20) ? MUTATOR.mutate(dice, frame) : frame, List.of(), false);
    }

    /// @param kind of the request that is answered
    /// @param lend what an honest guest would
    Player.Turn answer(int kind, List<String> lend) {
        var out = new ByteArrayOutputStream();
        for (int i = dice.oneIn(6) ? dice.size(300) : 0; i > 0; i--) {
            out.writeBytes(exit());
        }
        byte[] frame = frame(kind, dice.oneIn(25) ? (int) dice.number() : request);
        request++;
        out.writeBytes(dice.oneIn(8) ? MUTATOR.mutate(dice, frame) : frame);
        if (dice.oneIn(4)) {
            out.writeBytes(exit());
        }
        var given = dice.oneIn(8) ? kinds() : lend;
        return turn(out.toByteArray(), given, dice.oneIn(12));
    }

    private byte[] frame(int kind, int number) {
        if (dice.oneIn(10)) {
            return new GuestBytes()
                    .u32(dice.pick(2, 13, 0, -1))
                    .text("exec".repeat(dice.size(40)))
                    .frame(GuestBytes.ERROR, number);
        }
        var payload = new GuestBytes();
        switch (kind) {
            case GuestBytes.SPAWN -> payload.u32(pid());
            case GuestBytes.ATTACH -> payload.u32(dice.oneIn(8) ? (int) dice.number() : dice.pick(0, 0, 0, 4, 2, 1));
            case GuestBytes.LIST -> list(payload);
            default -> payload.u32(dice.oneIn(3) ? 1 : 0);
        }
        return payload.frame(dice.oneIn(30) ? dice.below(256) : GuestBytes.OK, number);
    }

    private void list(GuestBytes payload) {
        int count = dice.size(20);
        payload.u32(dice.oneIn(10) ? dice.pick(PIDS) : count);
        for (int i = 0; i < count; i++) {
            payload.u32(pid())
                    .u32(dice.below(8))
                    .u8(dice.below(3))
                    .u32(dice.below(3))
                    .u32(dice.pick(0, 9, -1));
            payload.text(dice.pick("1", "2", "", "x", "../../etc", "9223372036854775808", "7".repeat(dice.size(5000))));
        }
    }

    private int pid() {
        return dice.oneIn(12) ? dice.pick(PIDS) : dice.between(7, 9);
    }

    private byte[] exit() {
        return new GuestBytes()
                .u32(pid())
                .u32(dice.pick(0, 1, -1, 255, Integer.MIN_VALUE))
                .u32(dice.pick(0, 9, 64, -1))
                .u8(dice.below(2))
                .frame(GuestBytes.EXIT, dice.oneIn(10) ? request : 0);
    }

    private List<String> kinds() {
        var kinds = new ArrayList<String>();
        for (int i = dice.oneIn(20) ? 200 : dice.below(6); i > 0; i--) {
            kinds.add(dice.pick(KINDS));
        }
        return kinds.size() > 100 ? Collections.nCopies(200, kinds.getFirst()) : kinds;
    }

    private Player.Turn turn(byte[] bytes, List<String> lend, boolean end) {
        int cut = dice.oneIn(5) ? dice.below(bytes.length + 1) : bytes.length;
        return new Player.Turn(
                List.of(java.util.Arrays.copyOf(bytes, cut), java.util.Arrays.copyOfRange(bytes, cut, bytes.length)),
                lend,
                end);
    }
}
