/// `cay prove NAME`: checks of promises that take minutes. Each proof is a class that implements {@link
/// dev.cay.prove.Proof}; its result is written into the page of promises with date and commit.
@NullMarked
package dev.cay.prove;

import org.jspecify.annotations.NullMarked;
