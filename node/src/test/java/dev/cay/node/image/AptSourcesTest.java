package dev.cay.node.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class AptSourcesTest {
    @TempDir
    private Path etc;

    @Test
    void takesDebianItselfFromBothForms() throws Exception {
        file("sources.list", """
                # deb http://old.test/debian bookworm main
                deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.test/debian bookworm main contrib
                deb-src http://mirror.test/debian bookworm main
                """);
        file("sources.list.d/debian.sources", """
                Types: deb deb-src
                URIs: http://mirror.test/debian-security/
                Suites: bookworm-security
                Components: main
                Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

                Enabled: no
                Types: deb
                URIs: http://off.test/debian
                Suites: bookworm-updates
                Components: main
                """);
        assertThat(list())
                .containsExactly(
                        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.test/debian bookworm main",
                        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.test/debian-security/ bookworm-security main");
    }

    @Test
    void leavesThirdPartiesOut() throws Exception {
        file("sources.list", "deb http://mirror.test/debian bookworm main\n");
        file("sources.list.d/third.list", """
                deb [signed-by=/etc/apt/keyrings/docker.gpg] https://third.test/linux/debian bookworm stable
                deb [signed-by=/usr/share/keyrings/sury.gpg] https://third.test/debian bookworm main
                deb https://third.test/tools bookworm main
                """);
        assertThat(list()).containsExactly("deb http://mirror.test/debian bookworm main");
    }

    @Test
    void hasNothingToSayOnAnotherRelease() throws Exception {
        file("sources.list", "deb http://mirror.test/debian trixie main\n");
        assertThat(list()).isEmpty();
    }

    private List<String> list() {
        return new AptSources(etc, "bookworm").list();
    }

    private void file(String name, String text) throws IOException {
        Files.createDirectories(etc.resolve("apt/sources.list.d"));
        Files.writeString(etc.resolve("apt").resolve(name), text);
    }
}
