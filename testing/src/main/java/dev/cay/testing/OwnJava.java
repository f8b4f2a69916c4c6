package dev.cay.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The command line of a program in a JVM of its own, with the classes of the JVM that asks.
public final class OwnJava {
    /// Programs of tests live for seconds: the second compiler, and threads that collect garbage beside them, cost more
    /// processor time than they save.
    public static final List<String> FLAGS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");

    private OwnJava() {}

    public static List<String> command(Class<?> main, String... arguments) {
        return command(List.of(), System.getProperty("java.class.path"), main.getName(), arguments);
    }

    /// @param flags beside those that all have
    public static List<String> command(List<String> flags, String classPath, String main, String... arguments) {
        var command = new ArrayList<String>();
        command.add(program());
        command.addAll(FLAGS);
        // Its temporary files are this test run's, too, which removes them.
        command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, main));
        command.addAll(List.of(arguments));
        return command;
    }

    /// The program that runs this JVM.
    public static String program() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }
}
