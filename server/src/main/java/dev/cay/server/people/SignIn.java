package dev.cay.server.people;

import java.time.Duration;
import java.time.Instant;

/// A browser or a program that a person has signed in with.
///
/// @param end when it is over, unless a program renews it
record SignIn(String id, Person person, Kind kind, Instant end) {
    enum Kind {
        BROWSER("browser", Duration.ofHours(12), "cay_session_"),
        PROGRAM("program", Duration.ofDays(30), "cay_refresh_");

        private final String word;
        private final Duration life;
        private final String prefix;

        Kind(String word, Duration life, String prefix) {
            this.word = word;
            this.life = life;
            this.prefix = prefix;
        }

        static Kind of(String word) {
            return word.equals(BROWSER.word) ? BROWSER : PROGRAM;
        }

        String word() {
            return word;
        }

        Duration life() {
            return life;
        }

        /// Of its secrets.
        String prefix() {
            return prefix;
        }
    }
}
