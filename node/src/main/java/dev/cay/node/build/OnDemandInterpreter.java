package dev.cay.node.build;

import dev.cay.node.image.InterpreterLayers;
import dev.cay.node.image.LayerStore;
import dev.cay.node.image.LayerView;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.BuildPlan;
import dev.cay.wire.node.LogLine.Level;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// Gives an interpreter to templates that have a Python or a Node: cells run in sandboxes of any such template, and no
/// sandbox pays for it before its first cell.
final class OnDemandInterpreter {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<String> DIRECTORIES = List.of("usr/local/bin", "usr/bin", "bin");
    private static final List<String> PROGRAMS = List.of("python3", "node");
    private static final String PYTHON = "python";

    /// Counts up when the script finds something else in the same layers.
    private static final String VERSION = "1";

    /// Prints the languages whose runners find the programs they need, each with the path of its program.
    private static final String SCRIPT = """
            PATH=/usr/local/bin:/usr/bin:/bin
            python=$(command -v python3) && "$python" -c 'import sys, sqlite3; sys.exit(sys.version_info < (3, 8))' && {
                echo "python $python"
                [ ! -x /bin/bash ] || echo "bash $python"
                [ ! -x /usr/bin/Rscript ] || echo "r $python"
            }
            node=$(command -v node) && "$node" -e 'process.exit(parseInt(process.versions.node) < 24 ? 1 : 0)' && {
                echo "javascript $node"
                echo "typescript $node"
            }
            exit 0
            """;

    private static final Pattern LINE = Pattern.compile("(python|bash|r|javascript|typescript) (/[\\w./+-]{1,200})");

    private final InterpreterLayers interpreter;
    private final LayerBuilder layerBuilder;

    OnDemandInterpreter(InterpreterLayers interpreter, LayerBuilder layerBuilder) {
        this.interpreter = interpreter;
        this.layerBuilder = layerBuilder;
    }

    /// @param template layers of the template, top first, few enough to be mounted
    /// @return the same with those of the interpreter on top
    List<String> addTo(List<String> template, BuildPlan plan, BuildVoice voice) throws IOException {
        if (InterpreterLayers.isFromStart(layerBuilder.roots(template))) {
            return template;
        }
        var keys = new ArrayList<>(template);
        // A template of another one has its interpreter below what the steps changed.
        keys.removeIf(InterpreterLayers::isOnDemand);
        if (!hasPrograms(keys)) {
            return keys;
        }
        var languages = languages(keys, plan);
        if (languages.stream().anyMatch(line -> line.startsWith(PYTHON))) {
            addLibrary(keys, voice);
        }
        if (!languages.isEmpty()) {
            keys.addFirst(interpreter.onDemand(languages));
        }
        return keys;
    }

    private void addLibrary(List<String> keys, BuildVoice voice) {
        try {
            keys.addFirst(interpreter.pythonLibrary());
        } catch (CayException e) {
            if (e.kind() == ErrorKind.CANCELED) {
                throw e;
            }
            voice.say(
                    Level.WARN,
                    "Code cells of Python work only if the template has IPython itself (%s)"
                            .formatted(e.userMessage()));
        }
    }

    private boolean hasPrograms(List<String> keys) throws IOException {
        var view = new LayerView(layerBuilder.roots(keys));
        for (String directory : DIRECTORIES) {
            for (String program : PROGRAMS) {
                if (view.find(directory + "/" + program).place() != null) {
                    return view.find("bin/sh").place() != null;
                }
            }
        }
        return false;
    }

    /// The languages of the layers. Found by running the programs, once for the same layers.
    private List<String> languages(List<String> keys, BuildPlan plan) throws IOException {
        var inputs = new ArrayList<>(List.of("languages", VERSION));
        inputs.addAll(keys);
        return layerBuilder.cache().answer(LayerStore.hash(inputs), () -> ask(keys, plan));
    }

    private List<String> ask(List<String> keys, BuildPlan plan) throws IOException {
        var lines = new ArrayList<String>();
        try (var sandbox = layerBuilder.sandboxes().open(plan.templateId(), keys, plan.resources())) {
            var command = new BuildSandbox.Command(Scripts.command(SCRIPT), "root", "/", Map.of());
            sandbox.run(command, null, (line, isError) -> hear(line, isError, lines), LIMIT);
        }
        return lines;
    }

    /// Parses a line of output. The image's author chose the programs, so they may print anything.
    private static void hear(String line, boolean isError, List<String> lines) {
        if (!isError && LINE.matcher(line).matches() && lines.size() < PROGRAMS.size() + 3) {
            lines.add(line);
        }
    }
}
