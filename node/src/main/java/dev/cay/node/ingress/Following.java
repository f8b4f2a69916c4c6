package dev.cay.node.ingress;

import dev.cay.http.Exchange;
import dev.cay.node.process.Output;
import dev.cay.node.process.SandboxProcess;
import dev.cay.node.process.Selector;
import dev.cay.node.process.Subscription;
import dev.cay.wire.CayException;
import java.io.IOException;
import java.time.Duration;

/// A client that follows a process, also while its sandbox is closed briefly: it continues after the last piece it got.
/// Used by one thread, like a {@link Subscription}.
final class Following implements AutoCloseable {
    private final EnvdSandbox.Followers followers;
    private final Exchange exchange;
    private Subscription subscription;

    Following(Subscription subscription, EnvdSandbox.Followers followers, Exchange exchange) {
        this.followers = followers;
        this.exchange = exchange;
        this.subscription = subscription;
        followers.add(exchange);
        endWithIt();
    }

    private void endWithIt() {
        subscription.onCut(() -> exchange.abort("the process can no longer be followed"));
    }

    SandboxProcess process() {
        return subscription.process();
    }

    Output next(Duration limit) throws IOException, InterruptedException {
        try {
            return subscription.next(limit);
        } catch (IOException | CayException e) {
            if (!subscription.process().isElsewhere()) {
                throw e;
            }
            var table = followers.rejoin(exchange);
            subscription =
                    subscription.goOn(table.require(new Selector.Pid(process().pid())));
            endWithIt();
            return new Output.Silence();
        }
    }

    void sending() {
        subscription.sending();
    }

    void sent() {
        subscription.sent();
    }

    @Override
    public void close() {
        subscription.close();
    }
}
