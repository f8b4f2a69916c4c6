/// The audit log: who did what to which sandbox or setting, from which address, and the result. Entries are only added,
/// each with a hash over itself and the one before, and removed only from the old end.
///
/// Start at {@link dev.cay.server.audit.AuditLog}, to which `access` reports requests. It never contains a body, a
/// name, a query value or a credential: ids and masked keys only. It does not know what sandboxes are.
@NullMarked
package dev.cay.server.audit;

import org.jspecify.annotations.NullMarked;
