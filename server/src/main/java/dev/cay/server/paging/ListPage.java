package dev.cay.server.paging;

import dev.cay.http.Exchange;
import dev.cay.server.request.RequestBody;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/// Cuts a list into pages by time and id, so that what is added or removed between two pages neither repeats nor hides
/// anything else.
public final class ListPage {
    private static final int MOST = 100;
    private static final String SEPARATOR = "__";

    private ListPage() {}

    /// The requested page: newest first, equal times by id, or exactly the reverse. Sets the header with the start of
    /// the next page, if there is one.
    public static <T> List<T> cut(
            Exchange exchange, List<T> all, Function<T, Instant> time, Function<T, String> id, boolean ascending) {
        int limit = number(exchange, "limit", 1, MOST, MOST);
        Comparator<Place> order = ascending ? Place.ORDER.reversed() : Place.ORDER;
        String token = exchange.query("nextToken");
        var items =
                all.stream().sorted(Comparator.comparing(item -> new Place(time.apply(item), id.apply(item)), order));
        if (token != null && !token.isEmpty()) {
            Place after = Place.parse(token, ascending);
            items = items.filter(item -> order.compare(new Place(time.apply(item), id.apply(item)), after) > 0);
        }
        var page = items.limit(limit + 1L).toList();
        if (page.size() <= limit) {
            return page;
        }
        T last = page.get(limit - 1);
        exchange.with("X-Next-Token", new Place(time.apply(last), id.apply(last)).token(ascending));
        return page.subList(0, limit);
    }

    /// A whole number of the query within its bounds.
    public static int number(Exchange exchange, String name, int least, int most, int absent) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty()) {
            return absent;
        }
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw RequestBody.invalid(
                "the query parameter '%s' must be a number from %d to %d".formatted(name, least, most));
    }

    /// True or false, as the query says; false if it says nothing.
    public static boolean bool(Exchange exchange, String name) {
        String text = exchange.query(name);
        if (text == null || text.isEmpty() || text.equalsIgnoreCase("false")) {
            return false;
        }
        if (text.equalsIgnoreCase("true")) {
            return true;
        }
        throw RequestBody.invalid("the query parameter '%s' must be true or false".formatted(name));
    }

    /// The position of an item in the order.
    private record Place(Instant time, String id) {
        static final Comparator<Place> ORDER =
                Comparator.comparing(Place::time).reversed().thenComparing(Place::id);

        static Place parse(String token, boolean ascending) {
            try {
                String text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
                String[] parts = text.split(SEPARATOR, -1);
                if (parts.length == (ascending ? 3 : 2)) {
                    return new Place(Instant.parse(parts[0]), parts[1]);
                }
            } catch (IllegalArgumentException | DateTimeException e) {
                // told below
            }
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT,
                    "Invalid next token: send the value of X-Next-Token of the page before, with the same order");
        }

        String token(boolean ascending) {
            String text = time + SEPARATOR + id + (ascending ? SEPARATOR + "asc" : "");
            return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
        }
    }
}
