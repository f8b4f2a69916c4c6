package dev.cay.prove;

/// One thing that goes wrong during a build.
///
/// @param part  what it is chosen by: `crash`, `sandbox`, `registry` or `disk`
/// @param title what happens, for people
record BuildCase(String part, String title, Play play) {
    /// Plays it.
    interface Play {
        /// @return what is wrong afterwards; empty for nothing
        String run(BuildWorld world) throws Exception;
    }
}
