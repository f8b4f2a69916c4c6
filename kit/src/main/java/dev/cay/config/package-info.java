/// `cay.yaml` and `CAY_*` variables become one checked {@link dev.cay.config.CayConfig}.
///
/// {@link dev.cay.config.ConfigKeys} is the one table of names, meanings and defaults: parsing, `cay config` and the
/// error messages all read it. {@link dev.cay.config.ConfigLoader} finds each key's value and collects every problem.
/// What must not be known here: whether the host can bear the values; that is `cay doctor`'s.
@NullMarked
package dev.cay.config;

import org.jspecify.annotations.NullMarked;
