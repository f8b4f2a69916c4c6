package dev.cay.node.sandbox;

import dev.cay.http.Exchange;
import dev.cay.http.Handler;
import dev.cay.node.host.Programs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/// Git's own server, for repositories of a test. It answers at the edge's port inside sandboxes, over HTTPS.
///
/// Repositories of the owner `secret` are for those who know the token. Those of `moved` are said to be elsewhere.
final class OwnGit implements Handler {
    static final String URL = "https://git.cay.localhost:%d/".formatted(TestNode.EDGE_PORT);
    private static final String ELSEWHERE = "https://elsewhere.cay.localhost:%d/".formatted(TestNode.EDGE_PORT);

    /// A request, as far as tests look at it.
    record Asked(String host, String path, Optional<String> authorization) {}

    private final Path repositories;
    private final String login;
    private final Programs programs = Programs.ofHost();
    final AtomicInteger fetches = new AtomicInteger();
    final List<Asked> asked = new CopyOnWriteArrayList<>();
    volatile boolean down;

    OwnGit(Path directory, String token) throws IOException {
        this.repositories = Files.createDirectories(directory);
        this.login = "Basic "
                + Base64.getEncoder().encodeToString(("x-access-token:" + token).getBytes(StandardCharsets.UTF_8));
    }

    /// Commits files to a repository, which is made if it is not there.
    ///
    /// @param name  `OWNER/NAME`
    /// @param files contents by names
    void commit(String name, Map<String, String> files) throws IOException {
        var work = work(name);
        for (var file : files.entrySet()) {
            var path = work.resolve(file.getKey());
            Files.createDirectories(Objects.requireNonNull(path.getParent()));
            Files.writeString(path, file.getValue());
        }
        publish(name);
    }

    /// Where the files of a repository are before they are published.
    Path work(String name) throws IOException {
        var work = repositories.resolve("work").resolve(name);
        if (!Files.isDirectory(work)) {
            Files.createDirectories(work);
            git(work, "init", "--quiet", "--initial-branch", "main");
        }
        return work;
    }

    void publish(String name) throws IOException {
        var work = work(name);
        var bare = repositories.resolve("bare").resolve(name + ".git");
        git(work, "add", "--all");
        git(work, "-c", "user.name=Robot", "-c", "user.email=robot@example.com", "commit", "--quiet", "-m", "next");
        if (!Files.isDirectory(bare)) {
            Files.createDirectories(bare);
            git(work, "init", "--quiet", "--bare", "--initial-branch", "main", bare.toString());
        }
        git(work, "push", "--quiet", "--force", bare.toString(), "main");
    }

    void delete(String name) {
        programs.require(
                TestNode.LIMIT,
                "rm",
                "-rf",
                "--",
                repositories.resolve("bare").resolve(name + ".git").toString());
    }

    private void git(Path directory, String... arguments) {
        var line = new java.util.ArrayList<>(List.of("git", "-C", directory.toString()));
        line.addAll(List.of(arguments));
        programs.require(TestNode.LIMIT, line.toArray(String[]::new));
    }

    @Override
    public void handle(Exchange exchange) throws Exception {
        String authorization = exchange.header("Authorization");
        asked.add(new Asked(exchange.authority(), exchange.path(), Optional.ofNullable(authorization)));
        byte[] body = exchange.body().readAllBytes();
        if (down) {
            exchange.send(503);
        } else if (exchange.path().startsWith("/moved/")
                && !exchange.authority().startsWith("elsewhere")) {
            exchange.with("Location", ELSEWHERE + exchange.path().substring(1) + "?" + exchange.rawQuery())
                    .send(302);
        } else if (exchange.path().startsWith("/secret/") && !login.equals(authorization)) {
            exchange.with("WWW-Authenticate", "Basic realm=\"git\"").send(401);
        } else {
            answer(exchange, body);
        }
    }

    private void answer(Exchange exchange, byte[] body) throws IOException {
        if (new String(body, StandardCharsets.ISO_8859_1).contains("command=fetch")) {
            fetches.incrementAndGet();
        }
        var builder = new ProcessBuilder("git", "http-backend").redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment()
                .putAll(Map.of(
                        "GIT_PROJECT_ROOT", repositories.resolve("bare").toString(),
                        "GIT_HTTP_EXPORT_ALL", "1",
                        "PATH_INFO", exchange.path(),
                        "QUERY_STRING", Objects.requireNonNullElse(exchange.rawQuery(), ""),
                        "REQUEST_METHOD", exchange.method(),
                        "CONTENT_TYPE", Objects.requireNonNullElse(exchange.header("Content-Type"), ""),
                        "HTTP_CONTENT_ENCODING", Objects.requireNonNullElse(exchange.header("Content-Encoding"), ""),
                        "GIT_PROTOCOL", Objects.requireNonNullElse(exchange.header("Git-Protocol"), ""),
                        "REMOTE_USER", "robot"));
        var process = builder.start();
        try (var input = process.getOutputStream()) {
            input.write(body);
        } catch (IOException e) {
            // It answers without reading.
        }
        byte[] output = process.getInputStream().readAllBytes();
        int end = new String(output, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
        int status = 200;
        String type = "text/plain";
        for (String line : new String(output, 0, end, StandardCharsets.ISO_8859_1).split("\r\n")) {
            if (line.startsWith("Status: ")) {
                status = Integer.parseInt(line.substring(8, 11));
            } else if (line.startsWith("Content-Type: ")) {
                type = line.substring(14);
            }
        }
        exchange.send(status, type, java.util.Arrays.copyOfRange(output, end + 4, output.length));
    }
}
