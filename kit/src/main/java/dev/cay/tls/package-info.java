/// Certificates: {@link dev.cay.tls.LocalAuthority} is the authority of one machine and signs what its servers show,
/// {@link dev.cay.tls.OperatorCertificate} reads what an operator has instead. Knows nothing of HTTP.
@NullMarked
package dev.cay.tls;

import org.jspecify.annotations.NullMarked;
