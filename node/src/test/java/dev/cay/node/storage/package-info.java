@NullMarked
package dev.cay.node.storage;

import org.jspecify.annotations.NullMarked;
