package dev.cay.backup;

/// One line of the list of all parts.
///
/// @param bytes  length of its content
/// @param sha256 hash of head and content, in hex
record PartSum(String name, long bytes, String sha256) {}
