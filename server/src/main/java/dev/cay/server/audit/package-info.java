/// The audit log: who did what to which sandbox or setting, from where, and how it ended. Entries are only added, each
/// with a hash over itself and the one before, and removed from the old end alone.
///
/// Start at {@link dev.cay.server.audit.AuditLog}, which hears of requests from `access`. It never holds a body, a
/// name, a query value or a credential: ids and masked keys only. It knows nothing of what sandboxes are.
@NullMarked
package dev.cay.server.audit;

import org.jspecify.annotations.NullMarked;
