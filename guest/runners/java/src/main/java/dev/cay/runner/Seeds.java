package dev.cay.runner;

import java.util.Collections;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/// Gives the JDK's generators of random numbers a new start: copies of a sandbox would all draw the same numbers.
///
/// The JDK offers no way to do that, so this reaches into it; what a later JDK keeps elsewhere is passed over. Secure
/// random numbers need no help: they take from the kernel each time.
final class Seeds {
    private Seeds() {}

    static void sow(String hex) {
        if (!hex.matches("[0-9a-fA-F]{32}")) {
            return;
        }
        long first = Long.parseUnsignedLong(hex, 0, 16, 16);
        long second = Long.parseUnsignedLong(hex, 16, 32, 16);
        Math.random();
        seed("java.lang.Math$RandomNumberGeneratorHolder", "randomNumberGenerator", first);
        seed(Collections.class.getName(), "r", second);
        seed(Random.class.getName(), "seedUniquifier", first ^ Long.rotateLeft(second, 32));
        seed(ThreadLocalRandom.class.getName(), "seeder", Long.rotateLeft(first, 32) ^ second);
    }

    private static void seed(String type, String field, long seed) {
        try {
            var found = Class.forName(type).getDeclaredField(field);
            found.setAccessible(true);
            switch (found.get(null)) {
                case Random random -> random.setSeed(seed);
                case AtomicLong state -> state.set(seed);
                case null -> found.set(null, new Random(seed));
                default -> {}
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.err.println("cay: cannot seed " + type + ": " + e.getMessage());
        }
    }
}
