package dev.cay.prove.fuzz;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Bytes for one connection, and how they are sent.
///
/// @param cuts where the pieces end in which they are sent: parsers that remember where they were can forget it
record Input(DaemonPort door, byte[] bytes, List<Integer> cuts, Manner manner, Speech speech) {
    /// As what the answer is to be understood.
    enum Speech {
        HTTP1,
        HTTP2,
        /// Whatever: only that it ends matters.
        ANY
    }

    /// What the client does when it has sent all.
    enum Manner {
        /// Says at once that it has no more to say.
        FINISHED,
        /// Says so when an answer has begun, or does not come.
        WAITING,
        /// Goes away without a word.
        GONE
    }

    Input {
        cuts = List.copyOf(cuts);
    }

    static Input of(Dice dice, DaemonPort door, byte[] bytes, Speech speech) {
        var cuts = new ArrayList<Integer>();
        if (dice.oneIn(6) && bytes.length > 1) {
            for (int i = dice.between(1, 3); i > 0; i--) {
                cuts.add(dice.below(bytes.length));
            }
            cuts.sort(null);
        }
        var manner = switch (dice.below(24)) {
            case 0 -> Manner.GONE;
            case 1, 2, 3, 4 -> Manner.WAITING;
            default -> Manner.FINISHED;
        };
        return new Input(door, bytes, cuts, manner, speech);
    }

    List<byte[]> pieces() {
        var pieces = new ArrayList<byte[]>();
        int from = 0;
        for (int cut : cuts) {
            pieces.add(Arrays.copyOfRange(bytes, from, cut));
            from = cut;
        }
        pieces.add(Arrays.copyOfRange(bytes, from, bytes.length));
        return pieces;
    }
}
