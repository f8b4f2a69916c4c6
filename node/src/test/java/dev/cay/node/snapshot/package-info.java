/// How what was saved is kept from others.
@NullMarked
package dev.cay.node.snapshot;

import org.jspecify.annotations.NullMarked;
