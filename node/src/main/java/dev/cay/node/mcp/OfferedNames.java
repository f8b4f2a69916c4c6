package dev.cay.node.mcp;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;

/// Gives items of servers names that are unique among all servers, and that clients and models accept. Used by one
/// thread.
///
/// The same names in the same order give the same result, so that names stay the same after a restart.
final class OfferedNames {
    /// Longest name that models' providers accept.
    static final int LONGEST = 64;

    private static final int HASH = 8;

    private final Set<String> taken;

    /// @param taken names that are given to others
    OfferedNames(Set<String> taken) {
        this.taken = new HashSet<>(taken);
    }

    /// @param prefix the server's name, or empty
    String offer(String prefix, String name) {
        String whole = prefix.isEmpty() ? name : prefix + "-" + name;
        String clean = whole.replaceAll("[^A-Za-z0-9_-]", "_");
        if (clean.isEmpty() || clean.length() > LONGEST) {
            clean = clean.substring(0, Math.min(clean.length(), LONGEST - HASH - 1)) + "_" + hash(whole);
        }
        String offered = clean;
        for (int copy = 2; !taken.add(offered); copy++) {
            String tail = "_" + copy;
            offered = clean.substring(0, Math.min(clean.length(), LONGEST - tail.length())) + tail;
        }
        return offered;
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, HASH / 2);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
