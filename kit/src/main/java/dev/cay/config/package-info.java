/// `cay.yaml` and `CAY_*` variables become one checked {@link dev.cay.config.CayConfig}; every key, its default and its
/// meaning stand there and nowhere else.
@NullMarked
package dev.cay.config;

import org.jspecify.annotations.NullMarked;
