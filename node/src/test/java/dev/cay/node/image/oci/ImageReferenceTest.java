package dev.cay.node.image.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Names of images, and other small things that registries are told or tell.
@Fast
final class ImageReferenceTest {
    private static final String DIGEST = "sha256:" + "ab".repeat(32);

    @Test
    void completesNamesAsDockerDoes() {
        assertThat(ImageReference.parse("ubuntu")).hasToString("docker.io/library/ubuntu:latest");
        assertThat(ImageReference.parse("ubuntu:24.04")).hasToString("docker.io/library/ubuntu:24.04");
        assertThat(ImageReference.parse("me/app")).hasToString("docker.io/me/app:latest");
        assertThat(ImageReference.parse("docker.io/ubuntu")).hasToString("docker.io/library/ubuntu:latest");
        assertThat(ImageReference.parse("index.docker.io/a/b")).hasToString("docker.io/a/b:latest");
        assertThat(ImageReference.parse("localhost/app")).hasToString("localhost/app:latest");
        assertThat(ImageReference.parse("localhost:5000/app:1")).hasToString("localhost:5000/app:1");
        assertThat(ImageReference.parse("Host.example/a/b/c")).hasToString("host.example/a/b/c:latest");
        assertThat(ImageReference.parse("[::1]:5000/a")).hasToString("[::1]:5000/a:latest");
        assertThat(ImageReference.parse("a__b/c-d.e_f")).hasToString("docker.io/a__b/c-d.e_f:latest");
    }

    @Test
    void takesADigestInsteadOfATagOrBesideOne() {
        assertThat(ImageReference.parse("app@" + DIGEST)).hasToString("docker.io/library/app@" + DIGEST);
        assertThat(ImageReference.parse("h:1/app:v1@" + DIGEST)).hasToString("h:1/app:v1@" + DIGEST);
        assertThat(ImageReference.parse("app:v1@" + DIGEST).wanted()).isEqualTo(DIGEST);
    }

    @Test
    void refusesWhatIsNoName() {
        for (String name : List.of(
                "",
                " ",
                "Ubuntu",
                "a/B",
                "a//b",
                "/a",
                "a/",
                "a b",
                "a:",
                "a:b c",
                "a:-x",
                "a@md5:1",
                "a@" + DIGEST + "0",
                "a@",
                "-a",
                "a..b",
                "a/../b",
                "http://host.example/a",
                "ho_st.x:5/a",
                "host:123456/a",
                "a?b",
                "a#b",
                "a%2f",
                "x".repeat(300),
                "a\nb")) {
            assertThatThrownBy(() -> ImageReference.parse(name))
                    .as(name)
                    .isInstanceOfSatisfying(
                            CayException.class, e -> assertThat(e.kind()).isEqualTo(ErrorKind.INVALID_ARGUMENT))
                    .hasMessageContaining("the image name");
        }
        assertThatThrownBy(() -> ImageReference.parse("me/App")).hasMessageContaining("capital letters");
    }

    @Test
    void readsChallenges() {
        assertThat(RegistryChallenge.parse(List.of(
                        "Bearer realm=\"https://a.example/t\",service=\"s, \\\"x\\\"\" , scope=plain, Basic realm=\"b\"",
                        "Negotiate")))
                .containsExactly(
                        new RegistryChallenge(
                                "bearer",
                                Map.of("realm", "https://a.example/t", "service", "s, \"x\"", "scope", "plain")),
                        new RegistryChallenge("basic", Map.of("realm", "b")),
                        new RegistryChallenge("negotiate", Map.of()));
        assertThat(RegistryChallenge.parse(List.of("", "=", "\"", "a=b", "Basic \"", "\\")))
                .hasSizeLessThan(2);
    }

    /// The example of AWS's own documentation.
    @Test
    void signsAsAwsDoes() {
        var keys = new RegistryCredentials.Aws(
                "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", null, "us-east-1", null);

        var headers = new AwsSignature(keys, "iam")
                .sign(
                        "GET",
                        URI.create("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"),
                        Map.of("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
                        "",
                        Instant.parse("2015-08-30T12:36:00Z"));

        assertThat(headers.get("authorization"))
                .endsWith("Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
    }
}
