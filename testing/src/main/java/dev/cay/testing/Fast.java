package dev.cay.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/// The tests of this class run as any user: no root, no sandbox, no mount, no network namespace, no daemon.
/// `./cay test --fast` runs them.
@Tag("fast")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface Fast {}
