package dev.cay.prove;

/// One failure during a build.
///
/// @param part  the group by which it is chosen: `crash`, `sandbox`, `registry` or `disk`
/// @param title its description, for people
record BuildCase(String part, String title, Play play) {
    /// Plays it.
    interface Play {
        /// @return what is wrong afterwards; empty for nothing
        String run(BuildWorld world) throws Exception;
    }
}
