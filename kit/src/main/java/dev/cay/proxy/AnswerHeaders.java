package dev.cay.proxy;

import dev.cay.http.Exchange;
import java.util.Set;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.jspecify.annotations.Nullable;

/// The headers of a server's answer as the client gets them.
final class AnswerHeaders {
    private AnswerHeaders() {}

    /// The headers of the answer that the client may get: none of one hop alone, and cookies limited to its host.
    static HttpFields passable(HttpFields fields, Exchange exchange) {
        Set<String> hop = UpstreamRequest.hopOf(fields);
        var passed = HttpFields.build();
        for (HttpField field : fields) {
            String name = field.getLowerCaseName();
            if (!hop.contains(name) && LastHop.answersWith(exchange, name)) {
                passed.add(CookieScope.narrowed(field, exchange));
            }
        }
        return struck(passed, LastHop.scrub(exchange));
    }

    /// The headers without the values that the client must not see; null if there are none.
    static HttpFields struck(HttpFields fields, @Nullable Scrub scrub) {
        if (scrub == null) {
            return fields;
        }
        var struck = HttpFields.build();
        for (HttpField field : fields) {
            struck.add(scrub.name(field.getName()), scrub.text(String.valueOf(field.getValue())));
        }
        return struck;
    }
}
