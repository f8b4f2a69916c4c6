@NullMarked
package dev.cay.node.runtime;

import org.jspecify.annotations.NullMarked;
