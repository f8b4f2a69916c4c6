package dev.cay.runner;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.MethodSnippet;
import jdk.jshell.UnresolvedReferenceException;
import org.jspecify.annotations.Nullable;

/// Why a cell ended early, in the words of the language and with the lines of the cell.
record Trouble(String name, String value, String traceback) {
    private static final int MOST_FRAMES = 100;

    /// JShell's own names for the classes around a snippet.
    private static final Pattern WRAPPER = Pattern.compile("REPL\\.\\$JShell\\$\\w+[.$]");

    static Trouble interrupted(@Nullable JShellException problem, Places places) {
        var value = "the cell was interrupted";
        var where = new StringBuilder("InterruptedException: ").append(value).append('\n');
        if (problem != null) {
            frames(problem, places, where);
        }
        return new Trouble("InterruptedException", value, where.toString());
    }

    static Trouble internal(Throwable problem) {
        var value = problem.getMessage() == null ? "" : problem.getMessage();
        return new Trouble(problem.getClass().getSimpleName(), value, problem.toString());
    }

    /// What the compiler says, each with its line and a mark below the place.
    static Trouble compilation(List<Diag> found, String source, Places.Place place) {
        var errors = found.stream().filter(Diag::isError).toList();
        if (errors.isEmpty()) {
            var value = "this is not complete, or no Java";
            return new Trouble("CompilationError", value, place + ": error: " + value + '\n');
        }
        var text = new StringBuilder();
        for (var error : errors) {
            describe(error, source, place, text);
        }
        return new Trouble("CompilationError", brief(errors.getFirst()), text.toString());
    }

    /// The first line, and which symbol it is that cannot be found: that stands on a line of its own.
    private static String brief(Diag error) {
        var lines = error.getMessage(Locale.ROOT).lines().map(String::strip).toList();
        var symbol = lines.stream().filter(line -> line.startsWith("symbol:")).findFirst();
        return lines.getFirst()
                + symbol.map(line -> ": " + line.substring("symbol:".length()).strip())
                        .orElse("");
    }

    private static void describe(Diag error, String source, Places.Place place, StringBuilder to) {
        int at = (int) Math.clamp(error.getPosition(), 0L, source.length());
        int from = source.lastIndexOf('\n', at - 1) + 1;
        int end = source.indexOf('\n', at);
        var line = source.substring(from, end < 0 ? source.length() : end);
        var message = error.getMessage(Locale.ROOT).lines().toList();
        to.append(place.plus(Places.lineOf(source, at) - 1)).append(": error: ");
        to.append(message.isEmpty() ? "" : message.getFirst()).append('\n');
        to.append("    ").append(line.stripTrailing()).append('\n');
        to.append("    ").append(" ".repeat(Math.min(at - from, 500))).append("^\n");
        message.stream()
                .skip(1)
                .filter(more -> !more.strip().equals("location: class"))
                .forEach(more -> to.append(more).append('\n'));
    }

    static Trouble thrown(JShellException problem, JShell shell, Places places) {
        var text = new StringBuilder();
        for (Throwable one = problem; one instanceof JShellException each; one = one.getCause()) {
            text.append(text.isEmpty() ? "" : "Caused by: ")
                    .append(headline(each, shell))
                    .append('\n');
            frames(each, places, text);
        }
        return switch (problem) {
            case EvalException e ->
                new Trouble(simple(type(e)), e.getMessage() == null ? "" : e.getMessage(), text.toString());
            case UnresolvedReferenceException e ->
                new Trouble("UnresolvedReference", missing(e.getSnippet(), shell), text.toString());
            default -> new Trouble(problem.getClass().getSimpleName(), String.valueOf(problem), text.toString());
        };
    }

    /// Why something that was declared cannot be used yet.
    static String missing(DeclarationSnippet snippet, JShell shell) {
        var what = switch (snippet) {
            case MethodSnippet method ->
                "method %s(%s) cannot be called".formatted(method.name(), method.parameterTypes());
            default -> "%s cannot be used".formatted(snippet.name());
        };
        var needs = shell.unresolvedDependencies(snippet).collect(Collectors.joining(", "));
        if (!needs.isEmpty()) {
            return "%s until %s is declared".formatted(what, needs);
        }
        var errors = shell.diagnostics(snippet).filter(Diag::isError).map(error -> error.getMessage(Locale.ROOT));
        return "%s until this is mended: %s".formatted(what, errors.collect(Collectors.joining("; ")));
    }

    private static String headline(JShellException problem, JShell shell) {
        return switch (problem) {
            case EvalException e -> e.getMessage() == null ? type(e) : type(e) + ": " + e.getMessage();
            case UnresolvedReferenceException e -> "UnresolvedReference: " + missing(e.getSnippet(), shell);
            default -> problem.toString();
        };
    }

    private static void frames(JShellException problem, Places places, StringBuilder to) {
        var frames = problem.getStackTrace();
        for (int i = 0; i < Math.min(frames.length, MOST_FRAMES); i++) {
            to.append("    at ").append(frame(frames[i], places)).append('\n');
        }
        if (frames.length > MOST_FRAMES) {
            to.append("    ... ").append(frames.length - MOST_FRAMES).append(" more\n");
        }
    }

    private static String frame(StackTraceElement frame, Places places) {
        var file = frame.getFileName();
        if (file == null || !file.startsWith("#")) {
            return frame.toString();
        }
        var owner = WRAPPER.matcher(frame.getClassName() + '.').replaceAll("");
        if (owner.equals(".") || owner.startsWith("REPL.")) {
            owner = "";
        }
        var begin = places.find(file.substring(1));
        var place = begin == null ? file : begin.plus(frame.getLineNumber() - 1).toString();
        return frame.getMethodName().isEmpty() ? place : "%s%s (%s)".formatted(owner, frame.getMethodName(), place);
    }

    private static String type(EvalException problem) {
        return WRAPPER.matcher(problem.getExceptionClassName()).replaceAll("");
    }

    private static String simple(String type) {
        return type.substring(Math.max(type.lastIndexOf('.'), type.lastIndexOf('$')) + 1);
    }
}
