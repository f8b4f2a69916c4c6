package dev.cay.node.image;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.node.StartCommand;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The files of a directory of `templates`, packed into this program. A recipe that includes another one extends it.
record Recipe(String name, @Nullable Recipe included, Files files) {
    /// Counts up when the code around the recipe makes something else of it.
    private static final String LAYOUT = "2";

    /// The user of start commands, whom base has.
    private static final String USER = "user";

    /// The recipes that come with Cay.
    static final List<String> NAMES = List.of(
            "base",
            "code-interpreter-v1",
            "code-interpreter-lite",
            "mcp-gateway",
            "claude",
            "codex",
            "opencode",
            "amp",
            "desktop",
            "httpbin");

    /// Texts of one directory; missing files are empty.
    ///
    /// @param packages  of Debian
    /// @param dpkg      options of dpkg
    /// @param versions  names and versions of downloads from elsewhere
    /// @param modules   of the npm registry
    /// @param languages of its interpreter
    /// @param resources least memory of its sandboxes, disk space to build it, and its size
    /// @param setup     a shell script that gets the tree, and a directory with the extras
    /// @param extras    other files of the directory, by name
    record Files(
            String packages,
            String dpkg,
            String versions,
            String modules,
            String languages,
            String resources,
            String setup,
            SortedMap<String, String> extras) {
        Files {
            extras = Collections.unmodifiableSortedMap(new TreeMap<>(extras));
        }

        private static Files of(String recipe) {
            return new Files(
                    text(recipe, "packages"),
                    text(recipe, "dpkg.conf"),
                    text(recipe, "versions"),
                    text(recipe, "modules"),
                    text(recipe, "languages"),
                    text(recipe, "resources"),
                    text(recipe, "setup.sh"),
                    extras(recipe));
        }

        private static SortedMap<String, String> extras(String recipe) {
            var texts = new TreeMap<String, String>();
            entries(text(recipe, "files")).forEach(name -> texts.put(name, text(recipe, name)));
            return texts;
        }

        /// All inputs that decide the tree's content.
        private Stream<String> content() {
            var later = Stream.concat(
                    Stream.of(modules).filter(text -> !text.isEmpty()),
                    extras.entrySet().stream().flatMap(extra -> Stream.of(extra.getKey(), extra.getValue())));
            return Stream.concat(Stream.of(packages, dpkg, versions, setup), later);
        }
    }

    static Recipe of(String name) {
        if (!NAMES.contains(name)) {
            throw new CayException(
                    ErrorKind.NOT_FOUND, "there is no recipe %s; Cay has %s".formatted(name, String.join(", ", NAMES)));
        }
        var included = entries(text(name, "includes")).stream().findFirst();
        return new Recipe(name, included.map(Recipe::of).orElse(null), Files.of(name));
    }

    /// The innermost first.
    private List<Recipe> all() {
        var all = included == null ? new ArrayList<Recipe>() : new ArrayList<>(included.all());
        all.add(this);
        return all;
    }

    List<String> packageList() {
        return all().stream()
                .flatMap(recipe -> entries(recipe.files.packages).stream())
                .distinct()
                .toList();
    }

    List<String> dpkgOptions() {
        return all().stream()
                .flatMap(recipe -> entries(recipe.files.dpkg).stream())
                .toList();
    }

    /// Names and versions in the npm registry.
    List<String> modules() {
        return all().stream()
                .flatMap(recipe -> entries(recipe.files.modules).stream())
                .toList();
    }

    /// The languages of this recipe alone: it repeats those of an included one, or does not have them.
    List<String> languages() {
        return entries(files.languages);
    }

    /// The template whose layers are below the layer of this recipe; empty for a recipe that makes a tree.
    Optional<String> standsOn() {
        return entries(text(name, "stands-on")).stream().findFirst();
    }

    /// Whether it adds content to the recipe it stands on.
    boolean hasContent() {
        return !files.modules.isEmpty() || !files.setup.isEmpty();
    }

    /// The start command of its sandboxes.
    Optional<StartCommand> start() {
        return entries(text(name, "start")).stream()
                .findFirst()
                .map(command -> new StartCommand(
                        command,
                        entries(text(name, "ready")).stream().findFirst().orElse(null),
                        USER,
                        null,
                        Map.of()));
    }

    /// Least memory of its sandboxes.
    int memoryMB() {
        return resource("memoryMB");
    }

    /// Disk space that building it needs.
    int spaceMB() {
        return resource("spaceMB");
    }

    /// Approximate size on disk, without the template it stands on.
    int sizeMB() {
        return resource("sizeMB");
    }

    private int resource(String key) {
        return Integer.parseInt(properties(Files::resources).getProperty(key, "0"));
    }

    /// Files beside the scripts, by name, for {@link #setups}.
    SortedMap<String, String> extras() {
        return files.extras;
    }

    /// The setup scripts in the order in which they are run.
    List<String> setups() {
        return all().stream()
                .map(recipe -> recipe.files.setup)
                .filter(text -> !text.isEmpty())
                .toList();
    }

    String version(String of) {
        String version = properties(Files::versions).getProperty(of);
        if (version == null) {
            throw new CayException(ErrorKind.INTERNAL, "templates/%s/versions does not name %s".formatted(name, of));
        }
        return version;
    }

    /// Properties; those of this recipe override the included ones.
    private Properties properties(Function<Files, String> text) {
        var read = new Properties();
        try {
            for (var recipe : all()) {
                read.load(new StringReader(text.apply(recipe.files)));
            }
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "templates/%s is broken".formatted(name), e);
        }
        return read;
    }

    /// @param surroundings what changes everything, like the CPU's architecture
    String key(String... surroundings) {
        var inputs = new ArrayList<>(List.of(LAYOUT));
        all().forEach(recipe -> recipe.files.content().forEach(inputs::add));
        inputs.addAll(List.of(surroundings));
        return name + "-" + hash(inputs);
    }

    /// Hashes texts with their lengths, so that two lists with the same concatenation differ.
    static String hash(List<String> inputs) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            for (String input : inputs) {
                byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
                digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
                digest.update(bytes);
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 10);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> entries(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    private static String text(String recipe, String file) {
        try (var in = Recipe.class.getResourceAsStream("/dev/cay/node/templates/%s/%s".formatted(recipe, file))) {
            return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CayException(ErrorKind.INTERNAL, "cannot read templates/%s/%s".formatted(recipe, file), e);
        }
    }
}
