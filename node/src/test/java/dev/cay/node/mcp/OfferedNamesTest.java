package dev.cay.node.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

@Fast
final class OfferedNamesTest {
    private final OfferedNames names = new OfferedNames(Set.of());

    @Test
    void beginWithTheServersName() {
        assertThat(names.offer("notion", "API-post-search")).isEqualTo("notion-API-post-search");
        assertThat(names.offer("github-official", "create_issue")).isEqualTo("github-official-create_issue");
        assertThat(names.offer("", "plain")).isEqualTo("plain");
    }

    @Test
    void areWhatClientsAccept() {
        assertThat(names.offer("github/owner/repo", "tool")).isEqualTo("github_owner_repo-tool");
        assertThat(names.offer("x", "größe & mehr")).matches("[A-Za-z0-9_-]{1,64}");
        assertThat(names.offer("", "")).matches("[A-Za-z0-9_-]{1,64}");
        assertThat(names.offer("x", "a".repeat(300))).matches("[A-Za-z0-9_-]{1,64}");
    }

    @Test
    void areNeverGivenTwice() {
        var given = new HashSet<String>();
        for (int i = 0; i < 200; i++) {
            assertThat(given.add(names.offer("a", "b"))).isTrue();
            assertThat(given.add(names.offer("a", "b b"))).isTrue();
            assertThat(given.add(names.offer("a", "x".repeat(64)))).isTrue();
        }
        assertThat(given).allMatch(name -> name.length() <= OfferedNames.LONGEST);
    }

    @Test
    void areTheSameForTheSame() {
        String longName = "y".repeat(100);
        assertThat(names.offer("a", longName)).isEqualTo(new OfferedNames(Set.of()).offer("a", longName));
        assertThat(names.offer("a", longName + "1"))
                .isNotEqualTo(new OfferedNames(Set.of()).offer("a", longName + "2"));
    }
}
