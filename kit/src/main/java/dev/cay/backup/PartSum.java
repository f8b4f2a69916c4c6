package dev.cay.backup;

/// One line of the list at the end.
///
/// @param bytes  of its content
/// @param sha256 of head and content, in hex
record PartSum(String name, long bytes, String sha256) {}
