package dev.cay.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/// These tests start sandboxes or daemons, fetch clients into the cache of all users, or change the host in a way that
/// only root may. Run by another user they fail. On a method of a {@link Fast} class it takes this one test out of the
/// fast lane.
@Tag("root")
@ExtendWith(FailsWithoutRoot.class)
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface NeedsRoot {}
