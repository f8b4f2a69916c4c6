package dev.cay.server.dashboardapi;

import dev.cay.http.Exchange;
import dev.cay.server.paging.ListPage;
import dev.cay.server.request.RequestBody;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A part of a list whose answer has the cursor of the next one.
///
/// @param nextCursor null for the last part
record CursorPage<T>(List<T> items, @Nullable String nextCursor) {
    private static final String SEPARATOR = "|";

    /// The order of a list. Equal values are ordered by id.
    ///
    /// @param name  in a cursor, so that it is not used with another order
    /// @param value of an item; texts in the order of the values
    record Order<T>(String name, boolean ascending, Function<T, String> value, Function<T, String> id) {
        static <T> Order<T> byTime(String name, boolean ascending, Function<T, Instant> time, Function<T, String> id) {
            return new Order<>(name, ascending, item -> text(time.apply(item)), id);
        }

        private static String text(Instant time) {
            return "%019d".formatted(time.toEpochMilli());
        }

        private Comparator<Place> places() {
            var values = Comparator.comparing(Place::value);
            return (ascending ? values : values.reversed()).thenComparing(Place::id);
        }

        private Place place(T item) {
            return new Place(value.apply(item), id.apply(item));
        }
    }

    /// The names of the parameters of a list.
    record Parameters(String limit, int most, int usual, String cursor) {
        static final Parameters LIST = new Parameters("limit", 100, 50, "cursor");
    }

    private record Place(String value, String id) {}

    static <T> CursorPage<T> cut(Exchange exchange, List<T> all, Order<T> order, Parameters parameters) {
        int limit = ListPage.number(exchange, parameters.limit(), 1, parameters.most(), parameters.usual());
        var after = after(exchange, order, parameters.cursor());
        var places = order.places();
        var found = all.stream()
                .filter(item -> after == null || places.compare(order.place(item), after) > 0)
                .sorted(Comparator.comparing(order::place, places))
                .limit(limit + 1L)
                .toList();
        if (found.size() <= limit) {
            return new CursorPage<>(found, null);
        }
        return new CursorPage<>(found.subList(0, limit), cursor(order, order.place(found.get(limit - 1))));
    }

    private static <T> String cursor(Order<T> order, Place place) {
        String text = String.join(SEPARATOR, order.name(), place.value(), place.id());
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static <T> @Nullable Place after(Exchange exchange, Order<T> order, String name) {
        String cursor = exchange.query(name);
        if (cursor == null || cursor.isEmpty()) {
            return null;
        }
        try {
            String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
            String[] parts = text.split("\\|", 3);
            if (parts.length == 3 && parts[0].equals(order.name())) {
                return new Place(parts[1], parts[2]);
            }
        } catch (IllegalArgumentException _) {
            // told below
        }
        throw RequestBody.invalid("'%s' must be 'nextCursor' of the page before, with the same order".formatted(name));
    }
}
