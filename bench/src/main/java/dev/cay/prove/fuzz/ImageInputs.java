package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Archives of whole images, by `docker save` or as an OCI layout, whose documents say what they should not.
final class ImageInputs {
    private static final Mutator DOCUMENTS = Mutator.of(
            "{",
            "}",
            "[",
            "]",
            "\"",
            ":",
            ",",
            "null",
            "true",
            "[[[[",
            "{\"a\":",
            "\\u0000",
            "\\ud800",
            "sha256:",
            "layers",
            "manifests",
            "\"config\":",
            "\"size\":-1,",
            "\"Env\":[1,null,{}]",
            "\"Healthcheck\":{\"Test\":[]}",
            "linux",
            "..",
            "/");

    private final Dice dice;
    private final LayerInputs layers;

    ImageInputs(Dice dice, LayerInputs layers) {
        this.dice = dice;
        this.layers = layers;
    }

    byte[] archive() throws IOException {
        var contents = new ArrayList<byte[]>();
        for (int i = dice.below(4); i > 0; i--) {
            contents.add(layers.archive());
        }
        byte[] whole = dice.oneIn(2) ? saved(contents) : layout(contents);
        return switch (dice.below(8)) {
            case 0 -> DOCUMENTS.mutate(dice, whole);
            case 1 -> LayerInputs.gzip(whole);
            default -> whole;
        };
    }

    private byte[] saved(List<byte[]> contents) {
        var tar = new TarBytes();
        var names = IntStream.range(0, contents.size())
                .mapToObj(i -> "layer%d/layer.tar".formatted(i))
                .toList();
        for (int i = 0; i < contents.size(); i++) {
            if (dice.oneIn(10)) {
                tar.add(
                        new TarBytes.Header(names.get(i).getBytes(UTF_8), '2')
                                .link(dice.pick("../layer0/layer.tar", "x", "../../../etc")
                                        .getBytes(UTF_8)),
                        new byte[0]);
            } else {
                tar.file(names.get(i), contents.get(i));
            }
        }
        byte[] config = config(contents);
        String layerNames = names.stream().map("\"%s\""::formatted).collect(Collectors.joining(","));
        byte[] manifest =
                document("[{\"Config\":\"config.json\",\"RepoTags\":[\"a:b\"],\"Layers\":[%s]}]".formatted(layerNames));
        return tar.file("config.json", config).file("manifest.json", manifest).bytes(true);
    }

    private byte[] layout(List<byte[]> contents) {
        var tar = new TarBytes();
        var parts = new ArrayList<String>();
        for (byte[] content : contents) {
            tar.file(place(content), content);
            parts.add(part("application/vnd.oci.image.layer.v1.tar", content));
        }
        byte[] config = config(contents);
        byte[] manifest = document("{\"schemaVersion\":2,\"config\":%s,\"layers\":[%s]}"
                .formatted(part("application/vnd.oci.image.config.v1+json", config), String.join(",", parts)));
        byte[] index = document("{\"schemaVersion\":2,\"manifests\":[%s]}"
                .formatted(part("application/vnd.oci.image.manifest.v1+json", manifest)));
        return tar.file(place(config), config)
                .file(place(manifest), manifest)
                .file("index.json", index)
                .bytes(true);
    }

    private byte[] config(List<byte[]> contents) {
        String diffIds = contents.stream()
                .map(each -> "\"sha256:%s\"".formatted(digest(each)))
                .collect(Collectors.joining(","));
        String architecture = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
        return document("""
                {"architecture":"%s","os":"linux","config":{"Env":["A=b","PATH=/bin"],"User":"1:2","WorkingDir":"/w",\
                "Entrypoint":["/x"],"Cmd":["y"],"ExposedPorts":{"80/tcp":{}},"Labels":{"l":"m"},\
                "Healthcheck":{"Test":["CMD","true"],"Interval":1,"Retries":3}},"rootfs":{"type":"layers","diff_ids":[%s]}}\
                """.formatted(architecture, diffIds));
    }

    /// Broken before its digest is computed, so that it is read.
    private byte[] document(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        return dice.oneIn(3) ? DOCUMENTS.mutate(dice, bytes) : bytes;
    }

    private static String part(String type, byte[] content) {
        return "{\"mediaType\":\"%s\",\"digest\":\"sha256:%s\",\"size\":%d}"
                .formatted(type, digest(content), content.length);
    }

    private static String place(byte[] content) {
        return "blobs/sha256/" + digest(content);
    }

    private static String digest(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
