/// Lists in pages, the way all of the API does it: `limit`, `nextToken` and the header `X-Next-Token`.
@NullMarked
package dev.cay.server.paging;

import org.jspecify.annotations.NullMarked;
