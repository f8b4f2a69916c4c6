package dev.cay.prove.escape;

import dev.cay.platform.RemoteSandbox;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Files made to block a program that opens them. The node must answer requests for all of them, and serve others
/// afterwards as before.
final class AwkwardFiles {
    private static final String PLACE = "/root/awkward";
    private static final Duration ENOUGH = Duration.ofSeconds(30);
    private static final String MAKE = """
            mkdir -p %1$s && cd %1$s && mkfifo fifo && truncate -s 1T huge && ln -s loop loop && ln -s /proc/self/mem mem
            d=dddddddddddddddddddddddddddddddddddddddddddddddddd
            mkdir deep && cd deep && for i in $(seq 1500); do mkdir $d && cd -P $d || exit; done
            """.formatted(PLACE);

    private static final String UNREADABLE =
            "find /proc /sys -maxdepth 2 -type f ! -readable 2>/dev/null | grep -v '/proc/[0-9]' | head -40";

    private final RemoteSandbox sandbox;

    AwkwardFiles(RemoteSandbox sandbox) {
        this.sandbox = sandbox;
    }

    List<String> check(List<String> failures) throws IOException, InterruptedException {
        sandbox.run(List.of("/bin/sh", "-c", MAKE));
        for (String name : List.of("fifo", "loop", "mem", "deep")) {
            answers(
                    failures,
                    "read " + name,
                    () -> sandbox.read(PLACE + "/" + name).statusCode());
            answers(
                    failures,
                    "write " + name,
                    () -> sandbox.tryWrite(PLACE + "/" + name, new byte[] {1}).statusCode());
        }
        for (String device :
                List.of("/dev/zero", "/dev/ptmx", "/dev/tty", "/proc/1/mem", "/proc/sys/kernel/hostname")) {
            answers(
                    failures,
                    "write " + device,
                    () -> sandbox.tryWrite(device, new byte[] {1}).statusCode());
        }
        answers(failures, "stat huge", () -> call("Stat", Map.of("path", PLACE + "/huge")));
        answers(failures, "list", () -> call("ListDir", Map.of("path", PLACE, "depth", 5000)));
        answers(failures, "remove deep", () -> call("Remove", Map.of("path", PLACE + "/deep")));
        answers(failures, "remove fifo", () -> call("Remove", Map.of("path", PLACE + "/fifo")));
        deputy(failures);
        return List.of(
                "Files: pipes, loops, devices, a terabyte of nothing and 1,500 nested directories hold nobody up.");
    }

    /// The node is root of the host: it must not read for a sandbox what the sandbox's own root cannot.
    private void deputy(List<String> failures) throws IOException, InterruptedException {
        var unreadable = new ArrayList<>(
                sandbox.run(List.of("/bin/sh", "-c", UNREADABLE)).lines().toList());
        unreadable.addAll(List.of("/proc/slabinfo", "/proc/kpageflags", "/proc/vmallocinfo", "/proc/kmsg"));
        for (String path : unreadable) {
            String own = sandbox.run(List.of("/usr/bin/head", "-c", "1", path));
            boolean refused = own.contains("denied") || own.contains("permitted");
            if (refused && sandbox.read(path).statusCode() == 200) {
                failures.add("the node read %s for a sandbox that may not".formatted(path));
            }
        }
    }

    private int call(String method, Map<String, ?> message) throws IOException, InterruptedException {
        return sandbox.fileCall(method, message).statusCode();
    }

    private interface Question {
        int ask() throws IOException, InterruptedException;
    }

    /// Any answer is right, also a refusal, except 500, which means an unhandled case.
    private static void answers(List<String> failures, String what, Question question) throws InterruptedException {
        long begun = System.nanoTime();
        try {
            int status = question.ask();
            if (status == 500) {
                failures.add(what + " was answered 500");
            }
        } catch (IOException e) {
            failures.add("%s was not answered: %s".formatted(what, e.getMessage()));
        }
        if (System.nanoTime() - begun > ENOUGH.toNanos()) {
            failures.add(what + " took more than " + ENOUGH);
        }
    }
}
