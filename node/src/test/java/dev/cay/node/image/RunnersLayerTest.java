package dev.cay.node.image;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Fast
final class RunnersLayerTest {
    @TempDir
    private Path cache;

    @Test
    void hasTheRunnersAndTheirLanguages() throws Exception {
        var layers = new LayerStore(cache);
        var files = Map.of("bash/run", "#!/bin/sh\n".getBytes(UTF_8), "python/deep/shell.py", "1\n".getBytes(UTF_8));
        String key = new RunnersLayer(layers, new TreeMap<>(files))
                .build(List.of("python", "bash"), InterpreterLayers.LANGUAGES);
        var home = layers.require(key).resolve("opt/cay");
        assertThat(home.resolve("languages")).hasContent("python\nbash");
        assertThat(home.resolve("runners/python/deep/shell.py")).hasContent("1");
        assertThat(Files.isExecutable(home.resolve("runners/bash/run"))).isTrue();
        assertThat(Files.getPosixFilePermissions(home.resolve("runners/python/deep/shell.py")))
                .hasSize(4);
    }

    @Test
    void isAnotherOneWhenARunnerOrALanguageChanges() {
        var layers = new LayerStore(cache);
        var one = new RunnersLayer(layers, new TreeMap<>(Map.of("a", new byte[] {1})));
        var other = new RunnersLayer(layers, new TreeMap<>(Map.of("a", new byte[] {2})));
        assertThat(one.build(List.of("r"), InterpreterLayers.LANGUAGES))
                .isEqualTo(one.build(List.of("r"), InterpreterLayers.LANGUAGES))
                .isNotEqualTo(other.build(List.of("r"), InterpreterLayers.LANGUAGES))
                .isNotEqualTo(one.build(List.of("r", "bash"), InterpreterLayers.LANGUAGES))
                .isNotEqualTo(one.build(List.of("r"), InterpreterLayers.ON_DEMAND));
    }

    @Test
    void isMadeOfWhatWasPacked() {
        var layers = new LayerStore(cache);
        String key = new RunnersLayer(layers).build(List.of("python"), InterpreterLayers.LANGUAGES);
        assertThat(layers.require(key).resolve("opt/cay/languages")).hasContent("python");
    }
}
