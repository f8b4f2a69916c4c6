package dev.cay.cli;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/// A command about one webhook.
abstract class OneWebhook implements Callable<Integer> {
    @Mixin
    WebhookOptions options = new WebhookOptions();

    @Parameters(index = "0", paramLabel = "ID", description = "Id of the webhook.")
    String id = "";

    final JsonNode call(String method, String more, @Nullable Map<String, Object> body) {
        if (!id.matches("[A-Za-z0-9-]{1,64}")) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "there is no webhook '%s'".formatted(id));
        }
        return options.api().call(method, WebhookOptions.PATH + "/" + id + more, body);
    }
}
