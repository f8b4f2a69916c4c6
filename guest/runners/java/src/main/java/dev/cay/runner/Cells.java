package dev.cay.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import org.jspecify.annotations.Nullable;

/// Evaluates cells. A cell is a row of snippets; each is compiled and executed before the next is looked at, so what
/// stands before a mistake has happened.
final class Cells {
    private final CellControl control = new CellControl();
    private final Places places = new Places();
    private final JShell shell;

    /// What a cell came to: the value of its last expression, or trouble, or neither.
    record Outcome(@Nullable String value, @Nullable Trouble trouble) {
        static final Outcome NOTHING = new Outcome(null, null);

        static Outcome of(Trouble trouble) {
            return new Outcome(null, trouble);
        }
    }

    Cells() {
        shell = JShell.builder().executionEngine(control.provider(), null).build();
        shell.eval("import module java.base;");
        shell.eval("import java.util.prefs.*;");
    }

    /// Before a cell: interrupts of the one before do not count for it.
    void prepare() {
        control.prepare();
    }

    /// Ends the cell that runs. Called from another thread.
    void interrupt() {
        control.stop();
    }

    /// @param remarks hears of what is no error but should be known
    Outcome evaluate(String cell, int number, Consumer<String> remarks) {
        var declared = new ArrayList<Snippet>();
        var outcome = Outcome.NOTHING;
        int at = 0;
        while (true) {
            at = skipSpace(cell, at);
            var rest = cell.substring(at);
            var part = shell.sourceCodeAnalysis().analyzeCompletion(rest);
            if (part.completeness() == Completeness.EMPTY) {
                break;
            }
            boolean whole = part.source() != null && part.completeness() != Completeness.UNKNOWN;
            var source = whole ? part.source() : rest;
            var place = new Places.Place(number, Places.lineOf(cell, at));
            outcome = evaluate(source, place, declared);
            if (control.stopped() && outcome.trouble == null) {
                outcome = Outcome.of(Trouble.interrupted(null, places));
            }
            if (!whole && outcome.trouble == null) {
                outcome = Outcome.of(Trouble.compilation(List.of(), source, place));
            }
            if (outcome.trouble != null) {
                break;
            }
            at = cell.length() - part.remaining().length();
        }
        explain(declared, remarks);
        return outcome;
    }

    private Outcome evaluate(String source, Places.Place place, List<Snippet> declared) {
        List<SnippetEvent> events;
        try {
            events = shell.eval(source);
        } catch (StackOverflowError | RuntimeException e) {
            return Outcome.of(Trouble.internal(e));
        }
        var outcome = Outcome.NOTHING;
        for (var event : events) {
            if (event.causeSnippet() != null) {
                continue;
            }
            var snippet = event.snippet();
            places.put(snippet.id(), place);
            declared.add(snippet);
            outcome = outcome(event, source, place);
            if (outcome.trouble != null) {
                return outcome;
            }
        }
        return outcome;
    }

    private Outcome outcome(SnippetEvent event, String source, Places.Place place) {
        if (event.status() == Snippet.Status.REJECTED) {
            return Outcome.of(
                    Trouble.compilation(shell.diagnostics(event.snippet()).toList(), source, place));
        }
        JShellException problem = event.exception();
        if (control.stopped()) {
            return Outcome.of(Trouble.interrupted(problem, places));
        }
        if (problem != null) {
            return Outcome.of(Trouble.thrown(problem, shell, places));
        }
        return switch (event.snippet().subKind()) {
            case TEMP_VAR_EXPRESSION_SUBKIND, VAR_VALUE_SUBKIND, OTHER_EXPRESSION_SUBKIND ->
                new Outcome(event.value(), null);
            default -> Outcome.NOTHING;
        };
    }

    /// What was declared but needs something that the cell did not declare either.
    private void explain(List<Snippet> declared, Consumer<String> remarks) {
        for (var snippet : declared) {
            var status = shell.status(snippet);
            boolean waits =
                    status == Snippet.Status.RECOVERABLE_DEFINED || status == Snippet.Status.RECOVERABLE_NOT_DEFINED;
            if (waits && snippet instanceof DeclarationSnippet declaration) {
                remarks.accept(Trouble.missing(declaration, shell));
            }
        }
    }

    private static int skipSpace(String text, int at) {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }
}
