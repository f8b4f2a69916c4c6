/// Real sockets on loopback, real clients.
@NullMarked
package dev.cay.http;

import org.jspecify.annotations.NullMarked;
