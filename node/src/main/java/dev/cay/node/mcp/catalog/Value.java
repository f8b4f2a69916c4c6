package dev.cay.node.mcp.catalog;

import java.util.List;
import java.util.function.UnaryOperator;

/// What a user gave for an option, or what a template made of it. Prints nothing of itself.
///
/// @param items  more than one only for lists; none if nothing was given
/// @param secret whether any of it came from a secret
record Value(List<String> items, boolean secret) {
    static final Value NOTHING = new Value(List.of(), false);

    Value {
        items = List.copyOf(items);
    }

    static Value of(String text, boolean secret) {
        return new Value(List.of(text), secret);
    }

    String text() {
        return String.join(",", items);
    }

    boolean isEmpty() {
        return items.stream().allMatch(String::isEmpty);
    }

    /// The same for those of its items that are not empty, as nothing is made of nothing.
    Value map(UnaryOperator<String> change) {
        return new Value(
                items.stream()
                        .map(item -> item.isEmpty() ? item : change.apply(item))
                        .toList(),
                secret);
    }

    @Override
    public String toString() {
        return secret ? "Value[secret]" : "Value[hidden]";
    }
}
