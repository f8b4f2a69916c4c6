package dev.cay.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BesideTest {
    @Test
    void isDoneWhileItsOwnerGoesOn() {
        var ownerWentOn = new CountDownLatch(1);
        var work = Beside.begin("work", () -> {
            try {
                ownerWentOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return Thread.currentThread().getName();
        });

        ownerWentOn.countDown();

        assertThat(work.get()).isEqualTo("work");
    }

    @Test
    void failsAsTheWorkDid() {
        var failure = new CayException(ErrorKind.INVALID_ARGUMENT, "no such key");
        var work = Beside.<String>begin("work", () -> {
            throw failure;
        });

        assertThatThrownBy(work::get).isSameAs(failure);
    }
}
