package dev.cay.dockerfile;

import dev.cay.dockerfile.Instruction.InlineFile;
import dev.cay.dockerfile.Instruction.Source;
import dev.cay.dockerfile.Instruction.Transfer;
import dev.cay.dockerfile.LogicalLine.Heredoc;
import dev.cay.dockerfile.Words.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads COPY and ADD.
final class CopyParser {
    private final Operands operands;

    private CopyParser(Operands operands) {
        this.operands = operands;
    }

    static Instruction copy(Operands operands) {
        operands.allow(Set.of("from", "chown", "chmod", "link", "parents"), Set.of("exclude"));
        String from = operands.value("from");
        if (from != null && from.indexOf('$') >= 0) {
            throw operands.problem(
                    operands.offsetOf("from"),
                    "--from takes no variables",
                    "add a stage with FROM and the variable, and name that stage");
        }
        var transfer = new CopyParser(operands).transfer();
        if (from != null && !transfer.files().isEmpty()) {
            throw operands.problem(
                    operands.offsetOf("from"), "--from with a heredoc", "copy the heredoc in a COPY of its own");
        }
        return new Instruction.Copy(operands.at(), transfer, from);
    }

    static Instruction add(Operands operands) {
        operands.allow(
                Set.of("chown", "chmod", "link", "parents", "checksum", "keep-git-dir", "unpack"), Set.of("exclude"));
        String checksum = operands.value("checksum");
        operands.truth("keep-git-dir");
        if (checksum != null) {
            operands.checkVariables(checksum, operands.offsetOf("checksum"));
        }
        return new Instruction.Add(
                operands.at(), new CopyParser(operands).transfer(), checksum, operands.truth("unpack"));
    }

    private Transfer transfer() {
        var words = words();
        var sources = new ArrayList<Source>();
        var files = new ArrayList<InlineFile>();
        var heredocs = operands.heredocs().iterator();
        for (var word : words.subList(0, words.size() - 1)) {
            if (LineReader.delimiter(word.text()) != null && heredocs.hasNext()) {
                files.add(file(heredocs.next()));
            } else {
                operands.checkVariables(word);
                sources.add(new Source(operands.at(word.offset()), word.text()));
            }
        }
        var destination = words.getLast();
        if (heredocs.hasNext()) {
            throw operands.problem(
                    destination.offset(), "a heredoc cannot be the destination", "write the destination last");
        }
        operands.checkVariables(destination);
        var excludes = new ArrayList<String>();
        for (var flag : operands.flags("exclude")) {
            operands.checkVariables(flag.text(), flag.offset());
            excludes.add(flag.text());
        }
        return new Transfer(
                sources,
                files,
                destination.text(),
                expandable("chown"),
                expandable("chmod"),
                excludes,
                Boolean.TRUE.equals(operands.truth("link")),
                Boolean.TRUE.equals(operands.truth("parents")));
    }

    private @Nullable String expandable(String flag) {
        String value = operands.value(flag);
        if (value != null) {
            operands.checkVariables(value, operands.offsetOf(flag));
        }
        return value;
    }

    /// The words of the instruction. In JSON form every word has the position where the array begins.
    private List<Word> words() {
        var words = operands.json()
                .map(json -> json.stream()
                        .map(text -> new Word(text, operands.start()))
                        .toList())
                .orElseGet(operands::words);
        if (words.size() < 2) {
            throw operands.problem(
                    0,
                    "%s needs a source and a destination".formatted(operands.name()),
                    "write %s source destination".formatted(operands.name()));
        }
        return words;
    }

    private static InlineFile file(Heredoc heredoc) {
        return new InlineFile(heredoc.name(), heredoc.content(), heredoc.expand());
    }
}
