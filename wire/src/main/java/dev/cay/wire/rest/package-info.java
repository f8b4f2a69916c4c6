/// What the REST API answers, one record per shape. Components are named exactly as their JSON fields.
@NullMarked
package dev.cay.wire.rest;

import org.jspecify.annotations.NullMarked;
