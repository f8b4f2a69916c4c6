/// Builds that are cut off at every step, for `cay prove builds`.
///
/// Start with {@link dev.cay.prove.builds.BuildCases}, which plays one fault after the other. A
/// {@link dev.cay.prove.builds.Blueprint} is what is built, a {@link dev.cay.prove.builds.BuildClient} asks for it as
/// any client does, and {@link dev.cay.prove.builds.OwnCache} is where its layers lie.
@NullMarked
package dev.cay.prove.builds;

import org.jspecify.annotations.NullMarked;
