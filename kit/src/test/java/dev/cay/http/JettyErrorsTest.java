package dev.cay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Answers that no handler of ours gives.
@Fast
class JettyErrorsTest {
    @ParameterizedTest
    @CsvSource({"503, true", "429, true", "400, false", "500, false"})
    void saysWhenToComeAgain(int status, boolean later) throws Exception {
        var server = new Server();
        var connector = new LocalConnector(server);
        server.addConnector(connector);
        server.setErrorHandler(new JettyErrors());
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                Response.writeError(request, response, callback, status, "not now");
                return true;
            }
        });
        server.start();
        try {
            String answer = connector.getResponse("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 " + status);
            assertThat(answer).endsWith("{\"code\":%d,\"message\":\"not now\"}".formatted(status));
            assertThat(answer.matches("(?s).*\r\nRetry-After: [1-9]\r\n.*"))
                    .as(answer)
                    .isEqualTo(later);
        } finally {
            server.stop();
        }
    }
}
