package dev.cay.prove;

import dev.cay.dockerfile.TarWriter;
import dev.cay.platform.OwnCay;
import dev.cay.platform.RemoteSandbox;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import tools.jackson.databind.json.JsonMapper;

/// A template that is built: a step that runs, one that copies, another one that runs, and a start command. What steps
/// make is known, so that a layer of which a part is missing is found.
///
/// @param salt makes it differ from others, so that no step is known
record Blueprint(Kind kind, String salt) implements BuildOrder {
    private static final Duration LIFE = Duration.ofMinutes(2);
    private static final int COPIED = 6 << 20;

    /// Long enough to be struck.
    private static final String PAUSE = "sleep 0.6";

    private static final String START = "echo started > /tmp/started; exec sleep 100000";
    private static final String READY = "sleep 0.6; test -s /tmp/started";

    /// How it is described.
    enum Kind {
        STEPS,
        DOCKERFILE
    }

    static final String FINALIZE = "finalize";

    /// Steps that change something, as logs name them.
    static final List<String> STEPS = List.of("1", "2", "3", FINALIZE);

    @Override
    public String name() {
        return "proof-" + salt;
    }

    private String first() {
        return "echo %1$s one > /srv/one; %2$s; echo %1$s two >> /srv/one".formatted(salt, PAUSE);
    }

    private static String last() {
        return "%s; sha256sum < /srv/data > /srv/sum; cp /srv/one /srv/copy".formatted(PAUSE);
    }

    @Override
    public String body() {
        var body = JsonMapper.shared().createObjectNode();
        body.put("startCmd", START).put("readyCmd", READY);
        if (kind == Kind.DOCKERFILE) {
            body.put("filesHash", filesHash()).put("dockerfile", """
                    FROM e2bdev/base
                    RUN --mount=type=tmpfs,target=/scratch %s
                    COPY data /srv/data
                    RUN %s
                    """.formatted(first(), last()));
            return body.toString();
        }
        body.put("fromTemplate", "base");
        var steps = body.putArray("steps");
        steps.addObject().put("type", "RUN").putArray("args").add(first()).add("root");
        steps.addObject()
                .put("type", "COPY")
                .put("filesHash", filesHash())
                .putArray("args")
                .add("data")
                .add("/srv/data")
                .add("root:root");
        steps.addObject().put("type", "RUN").putArray("args").add(last()).add("root");
        return body.toString();
    }

    @Override
    public byte[] files() {
        byte[] data = data();
        var archive = new ByteArrayOutputStream();
        var tar = new TarWriter(archive);
        try {
            tar.file(new TarWriter.Header("data", 0644, 0, 0, 0), data.length, new ByteArrayInputStream(data));
            tar.finish();
        } catch (IOException e) {
            throw new IllegalStateException("memory takes all that is written to it", e);
        }
        return archive.toByteArray();
    }

    /// Bytes that nothing compresses.
    private byte[] data() {
        byte[] data = new byte[COPIED];
        new Random(salt.hashCode()).nextBytes(data);
        return data;
    }

    @Override
    public String wrong(OwnCay cay) throws IOException, InterruptedException {
        try (var sandbox = RemoteSandbox.create(cay.url(), cay.key(), name(), LIFE)) {
            String found = sandbox.run(List.of(
                    "/bin/sh",
                    "-c",
                    "cat /srv/one /srv/copy; sha256sum < /srv/data; cat /srv/sum /tmp/started; ls -A / | grep scratch"
                            + " || true"));
            String text = "%1$s one\n%1$s two\n".formatted(salt);
            String sum = BuildOrder.digest(data()) + "  -\n";
            String wanted = text + text + sum + sum + "started\n";
            return found.equals(wanted) ? "" : "a sandbox of it has %s, and not %s".formatted(found, wanted);
        }
    }
}
