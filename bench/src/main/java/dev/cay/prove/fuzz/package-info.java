/// Malformed inputs, for `cay prove fuzz` and for the test that sends some of them each time.
///
/// A {@link dev.cay.prove.fuzz.Target} makes one kind of input from a seed, sends it and judges the result; begin with
/// {@link dev.cay.prove.fuzz.Campaign}, which sends many. Most targets know Cay only from outside. Three run a part of
/// it in this process: the link to guests, with a forged guest at the other end, the unpacker of image layers, and the
/// reader of Dockerfiles.
@NullMarked
package dev.cay.prove.fuzz;

import org.jspecify.annotations.NullMarked;
