package dev.cay.server;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/// What is promised of webhooks and their events, whatever engine the store has.
@Timeout(120)
abstract class WebhookContract extends ServerTest
        implements WebhookRegistrationContract,
                WebhookDeliveryContract,
                WebhookRetryContract,
                WebhookRedeliveryContract,
                WebhookListContract,
                EventDataContract {
    private Receiver receiver;

    @BeforeEach
    final void receive() throws Exception {
        receiver = new Receiver();
    }

    /// Before the server ends, which would wait for a receiver that hangs.
    @AfterEach
    final void closeReceiver() {
        receiver.close();
    }

    @Override
    public final Receiver receiver() {
        return receiver;
    }
}
