package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Await;
import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

@Fast
final class RepeatedCreateTest extends ServerTest {
    @Test
    void theSameKeyAndBodyGiveTheSameSandboxAlsoAfterARestart() throws Exception {
        var first = create("key-1", "{\"templateID\":\"base\",\"metadata\":{\"a\":\"1\",\"b\":\"2\"}}");
        var second = create("key-1", "{\"metadata\":{\"b\":\"2\",\"a\":\"1\"}, \"templateID\":\"base\"}");
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.text()).isEqualTo(first.text());
        cay.close();
        cay = TestServer.again(directory, cay);
        assertThat(create("key-1", "{\"templateID\":\"base\",\"metadata\":{\"a\":\"1\",\"b\":\"2\"}}")
                        .text())
                .isEqualTo(first.text());
        assertThat(cay.node.running).hasSize(1);
    }

    @Test
    void theSameKeyWithAnotherBodyIsAConflict() {
        create("key-1", "{\"templateID\":\"base\"}");
        var answer = create("key-1", "{\"templateID\":\"base\",\"timeout\":7}");
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.message()).contains("Idempotency-Key");
        assertThat(create("key 2", "{\"templateID\":\"base\"}").status()).isEqualTo(400);
    }

    @Test
    void manyAtOnceMakeOneSandbox() throws Exception {
        var entered = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        cay.node.onCreate = spec -> {
            entered.countDown();
            await(go);
        };
        Set<String> texts = new HashSet<>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<TestServer.Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                answers.add(threads.submit(() -> create("key-1", "{\"templateID\":\"base\"}")));
            }
            await(entered);
            assertThat(create("key-1", "{\"templateID\":\"base\",\"timeout\":9}")
                            .status())
                    .isEqualTo(409);
            go.countDown();
            for (var answer : answers) {
                assertThat(answer.get().status()).isEqualTo(201);
                texts.add(answer.get().text());
            }
        }
        assertThat(texts).hasSize(1);
        assertThat(cay.node.running).hasSize(1);
    }

    @Test
    void aKeyWhoseCreateFailedMayBeUsedAgain() {
        cay.node.onCreate = spec -> {
            throw new CayException(ErrorKind.UNAVAILABLE, "full");
        };
        assertThat(create("key-1", "{\"templateID\":\"base\"}").status()).isEqualTo(503);
        cay.node.onCreate = spec -> {};
        assertThat(create("key-1", "{\"templateID\":\"base\"}").status()).isEqualTo(201);
    }

    private TestServer.Answer create(String key, String body) {
        return cay.call("POST", "/v2/sandboxes", body, "Idempotency-Key", key);
    }

    private static void await(CountDownLatch latch) {
        Await.until("the other thread gets there", latch);
    }
}
