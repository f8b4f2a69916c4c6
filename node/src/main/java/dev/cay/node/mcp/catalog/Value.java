package dev.cay.node.mcp.catalog;

import java.util.List;
import java.util.function.UnaryOperator;

/// A user's value of an option, or the result of a template. Its text form is empty.
///
/// @param items  more than one only for lists; none if the option was not given
/// @param secret whether any part of it came from a secret
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

    /// Changes the items that are not empty, because an empty value stays empty.
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
