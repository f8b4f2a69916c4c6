/// Webhooks: the addresses to which teams have events sent, and the delivery.
///
/// Start at {@link dev.cay.server.webhook.Webhooks}. The event and its messages are written in one transaction, in
/// `dev.cay.server.event`; from then on only the database says what is to be sent. {@link
/// dev.cay.server.webhook.Deliverer} sends it.
@NullMarked
package dev.cay.server.webhook;

import org.jspecify.annotations.NullMarked;
