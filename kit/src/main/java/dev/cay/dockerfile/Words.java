package dev.cay.dockerfile;

import java.util.ArrayList;
import java.util.List;

/// Splits text into words by the two ways that Dockerfiles know. Neither removes quotes; {@link Expansion} does.
final class Words {
    /// @param offset of the first character in the text
    record Word(String text, int offset) {
        int end() {
            return offset + text.length();
        }
    }

    private Words() {}

    /// Words between spaces; quotes have no meaning.
    static List<Word> plain(String text, int from) {
        var words = new ArrayList<Word>();
        int start = skipSpaces(text, from);
        while (start < text.length()) {
            int end = start;
            while (end < text.length() && !Character.isWhitespace(text.charAt(end))) {
                end++;
            }
            words.add(new Word(text.substring(start, end), start));
            start = skipSpaces(text, end);
        }
        return words;
    }

    /// Words between spaces that are neither quoted nor escaped. A quote that is not closed extends to the end.
    static List<Word> quoted(String text, int from, char escape) {
        var words = new ArrayList<Word>();
        int start = skipSpaces(text, from);
        while (start < text.length()) {
            int end = endOfWord(text, start, escape);
            words.add(new Word(text.substring(start, end), start));
            start = skipSpaces(text, end);
        }
        return words;
    }

    /// The offset of the first space after the word that begins at `start`.
    static int endOfWord(String text, int start, char escape) {
        char quote = 0;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == escape && quote != '\'') {
                i++;
            } else if (quote != 0) {
                quote = c == quote ? 0 : quote;
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (Character.isWhitespace(c)) {
                return i;
            }
        }
        return text.length();
    }

    static int skipSpaces(String text, int from) {
        int at = from;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /// The word without its quotes and escapes, without expansion of variables.
    static String unquote(String word, char escape) {
        var plain = new StringBuilder();
        char quote = 0;
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            if (c == escape && quote != '\'' && i + 1 < word.length()) {
                plain.append(word.charAt(++i));
            } else if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (quote != 0 && c == quote) {
                quote = 0;
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
