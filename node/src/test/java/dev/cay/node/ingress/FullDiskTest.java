package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@NeedsRoot
class FullDiskTest {
    private Path disk;
    private TestEnvd envd;

    @BeforeEach
    void start() throws Exception {
        disk = Files.createTempDirectory("cay-full-disk-");
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "cay-test", disk.toString());
        try {
            envd = new TestEnvd();
        } catch (Exception e) {
            run("umount", disk.toString());
            throw e;
        }
    }

    @AfterEach
    void stop() throws Exception {
        envd.close();
        run("umount", disk.toString());
        Files.delete(disk);
    }

    private static void run(String... command) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    private static void full(HttpResponse<String> answer) {
        assertThat(answer.body()).isEqualTo("{\"code\":507,\"message\":\"not enough disk space available\"}");
        assertThat(answer.statusCode()).isEqualTo(507);
    }

    @Test
    void saysThatTheDiskIsFull() throws Exception {
        // The client reads the answer although it is not done with sending.
        full(envd.upload(disk + "/large", "x".repeat(8 << 20)));
        String part =
                "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s/part\"\r\n\r\n%s\r\n--b--\r\n"
                        .formatted(disk, "y".repeat(2 << 20));
        full(envd.send(envd.request("/files")
                .header("Content-Type", "multipart/form-data; boundary=b")
                .POST(BodyPublishers.ofString(part))));
        assertThat(envd.call("Remove", "{\"path\":\"%s/large\"}".formatted(disk))
                        .statusCode())
                .isEqualTo(200);
        assertThat(envd.call("Remove", "{\"path\":\"%s/part\"}".formatted(disk)).statusCode())
                .isEqualTo(200);
        for (String name : new String[] {"1", "2"}) {
            assertThat(envd.upload(disk + "/" + name, "z".repeat(400 << 10)).statusCode())
                    .isEqualTo(200);
        }
        full(envd.send(envd.request("/files/compose")
                .POST(BodyPublishers.ofString(
                        "{\"source_paths\":[\"%1$s/1\",\"%1$s/2\"],\"destination\":\"%1$s/whole\"}".formatted(disk)))));
        // Nothing half made is left, and nothing is lost. The test itself does not see the disk.
        assertThat(envd.call("ListDir", "{\"path\":\"%s\"}".formatted(disk)).body())
                .contains("/1\"", "/2\"")
                .doesNotContain("whole", ".cay-");
    }
}
