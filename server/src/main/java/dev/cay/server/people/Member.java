package dev.cay.server.people;

import dev.cay.server.access.KeyScope;
import dev.cay.server.access.Team;

/// A person in a team, and what they may do there.
public record Member(Person person, Team team, KeyScope scope) {}
