/// Sign-in with an issuer of OpenID Connect: code flow with PKCE. Start at {@link dev.cay.server.people.openid.OpenId}.
///
/// Knows nothing of people and teams: it tells which account of the issuer a browser belongs to.
@NullMarked
package dev.cay.server.people.openid;

import org.jspecify.annotations.NullMarked;
