/// `cay prove NAME`: promises that take minutes to show. Each proof is a class that implements
/// {@link dev.cay.prove.Proof}; what came of it is written into the page of promises with date and commit.
@NullMarked
package dev.cay.prove;

import org.jspecify.annotations.NullMarked;
