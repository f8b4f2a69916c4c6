package dev.cay.prove.fuzz;

import java.util.List;
import java.util.SplittableRandom;

/// The random choices of one input: the same seed makes the same input again.
final class Dice {
    private final SplittableRandom random;

    Dice(long seed) {
        random = new SplittableRandom(seed);
    }

    /// A number from 0 to `bound - 1`.
    int below(int bound) {
        return random.nextInt(bound);
    }

    /// A number between both bounds, inclusive.
    int between(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    boolean oneIn(int many) {
        return random.nextInt(many) == 0;
    }

    <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    @SafeVarargs
    final <T> T pick(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    /// A size: mostly small, sometimes near the limit, because bugs are at both ends.
    int size(int most) {
        int bits = 32 - Integer.numberOfLeadingZeros(Math.max(1, most));
        return Math.min(most, random.nextInt(1 << Math.min(30, random.nextInt(bits) + 1)));
    }

    long number() {
        return random.nextLong();
    }
}
