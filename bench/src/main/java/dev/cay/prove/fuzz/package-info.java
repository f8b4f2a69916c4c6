/// Inputs nobody would send on purpose, for `cay prove fuzz` and for the test that plays some of them each time.
///
/// A {@link dev.cay.prove.fuzz.Target} makes one kind of input from a seed, sends it and judges what comes of it;
/// begin with {@link dev.cay.prove.fuzz.Campaign}, which plays many. Most targets know Cay only from outside. Three
/// run a part of it in this process: the link to guests, whose other end is played by a guest that lies, the
/// unpacker of image layers, and the reader of Dockerfiles.
@NullMarked
package dev.cay.prove.fuzz;

import org.jspecify.annotations.NullMarked;
