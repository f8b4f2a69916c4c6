/// People: who they are, which teams they are in, and how they sign in with browsers and programs.
///
/// Start at {@link dev.cay.server.people.PersonAccess}, which puts the package together. A person is known by an e-mail
/// address. They sign in with a one-time link of the operator's or by OpenID Connect (package `openid`). A browser then
/// has a cookie; a program has an access token for an hour and a refresh token. The store keeps hashes of all of these.
///
/// This package checks tokens for {@link dev.cay.server.access.Access}, which does not know it.
@NullMarked
package dev.cay.server.people;

import org.jspecify.annotations.NullMarked;
