package dev.cay.server.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Fast
final class PostgresAddressTest {
    @Test
    void aServerElsewhereIsEncryptedAndCheckedUnlessTheOperatorSaysOtherwise() {
        assertThat(PostgresAddress.parse("postgresql://cay@db.example.org/records")
                        .jdbc())
                .startsWith("jdbc:postgresql://db.example.org:5432/records?")
                .contains("sslmode=verify-full", "sslfactory=", "targetServerType=primary");
        assertThat(PostgresAddress.parse("postgres://cay@db.example.org/records?sslmode=disable")
                        .jdbc())
                .contains("sslmode=disable")
                .doesNotContain("verify-full", "sslfactory");
        assertThat(PostgresAddress.parse("postgresql://cay@db.example.org/records?sslrootcert=/etc/cay/ca.pem")
                        .jdbc())
                .contains("sslmode=verify-full", "sslrootcert=%2Fetc%2Fcay%2Fca.pem")
                .doesNotContain("sslfactory");
        assertThat(PostgresAddress.parse("postgresql://cay@127.0.0.1:5433/records")
                        .jdbc())
                .contains("127.0.0.1:5433", "sslmode=prefer");
    }

    @Test
    void severalHostsAreTriedForTheOneThatCanBeWritten() {
        var address = PostgresAddress.parse("postgresql://cay@one.example.org,[::1]:5433/records");
        assertThat(address.hosts()).containsExactly("one.example.org:5432", "[::1]:5433");
        assertThat(address.jdbc()).contains("verify-full");
        assertThat(address).hasToString("postgresql://cay@one.example.org:5432,[::1]:5433/records");
    }

    @Test
    void namesMayHoldAnyCharacter() {
        var address = PostgresAddress.parse("postgresql://c%40y+1@127.0.0.1/my%20records");
        assertThat(address.user()).isEqualTo("c@y+1");
        assertThat(address.database()).isEqualTo("my records");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        postgresql://cay:secret@db/records       | must not hold a password
        postgresql://db/records                  | names no user
        postgresql://cay@db                      | must look like
        postgresql://cay@db:99999/records        | no host and port in 'db:99999'
        postgresql://cay@db,/records             | no host and port in ''
        postgresql://cay@db/records?ssl=true     | an option 'ssl'
        postgresql://cay@db/records?sslmode=yes  | sslmode 'yes'
        postgresql://cay@db/records?socketFactory=x | an option 'socketFactory'
        mysql://cay@db/records                   | must look like
        """)
    void whatIsWrongIsNamedAndNoSecretIsRepeated(String url, String message) {
        assertThatThrownBy(() -> PostgresAddress.parse(url))
                .hasMessageStartingWith("store.url ")
                .hasMessageContaining(message)
                .hasMessageNotContaining("secret");
    }
}
