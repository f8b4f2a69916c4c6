/// Reads request bodies field by field.
@NullMarked
package dev.cay.server.request;

import org.jspecify.annotations.NullMarked;
