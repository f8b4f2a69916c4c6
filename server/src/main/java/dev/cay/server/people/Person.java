package dev.cay.server.people;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.util.regex.Pattern;

/// A human who signs in.
///
/// @param email by which the operator knows them, in lower case
public record Person(String id, String email) {
    private static final Pattern EMAIL =
            Pattern.compile("[^\\s@<>\"',;\\p{Cntrl}]{1,64}@[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?");

    /// @throws CayException if this is no e-mail address
    public static String email(String text) {
        String plain = lower(text.strip());
        if (plain.length() > 254 || !EMAIL.matcher(plain).matches()) {
            throw new CayException(
                    ErrorKind.INVALID_ARGUMENT, "'email' must be an e-mail address like ann@example.org");
        }
        return plain;
    }

    /// Only ASCII letters: other ones become them in lower case, like the Kelvin sign, which would make one person of
    /// two.
    private static String lower(String text) {
        return text.chars()
                .map(letter -> letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /// What follows the @ of an address.
    public static String domain(String email) {
        return email.substring(email.lastIndexOf('@') + 1);
    }
}
