/// The whole platform, driven from outside as its users drive it: a real daemon, real sandboxes, the official clients.
///
/// Start reading at {@link dev.cay.acceptance.TestPlatform}. Nothing here knows how Cay works inside, but
/// {@link dev.cay.acceptance.ArchitectureTest}, which holds the rules of the house.
@NullMarked
package dev.cay.acceptance;

import org.jspecify.annotations.NullMarked;
