package dev.cay.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A character is a byte here.
@Fast
final class FramedScrubTest {
    private static final String VALUE = "sk-aab-aac";
    private static final String STARS = "**********";

    private static FramedScrub scrub(FramedScrub.Protocol protocol) {
        return new FramedScrub(new Scrub(List.of(VALUE)), protocol);
    }

    private static String text(ByteBuffer bytes) {
        return ISO_8859_1.decode(bytes).toString();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(ISO_8859_1));
    }

    /// Everything that passes when a text comes in pieces of one size.
    private static String passed(FramedScrub.Protocol protocol, String text, int size) {
        var scrub = scrub(protocol);
        var all = new StringBuilder();
        for (int at = 0; at < text.length(); at += size) {
            all.append(text(scrub.pass(bytes(text.substring(at, Math.min(text.length(), at + size))))));
        }
        return all.append(text(scrub.rest())).toString();
    }

    private static String frame(int first, String content) {
        String length = content.length() < 126
                ? "" + (char) content.length()
                : content.length() < 1 << 16
                        ? (char) 126 + "" + (char) (content.length() >> 8) + (char) (content.length() & 0xff)
                        : (char) 127 + "\0\0\0\0\0" + (char) (content.length() >> 16 & 0xff)
                                + (char) (content.length() >> 8 & 0xff) + (char) (content.length() & 0xff);
        return (char) first + length + content;
    }

    private static String message(String content) {
        return "\0\0\0" + (char) (content.length() >> 8) + (char) (content.length() & 0xff) + content;
    }

    @Test
    void strikesAlsoWhereAnAnswerHasNoFrames() {
        for (int size = 1; size < 20; size++) {
            assertThat(passed(FramedScrub.Protocol.GRPC, VALUE, size)).isEqualTo(STARS);
        }
    }

    @Test
    void aValueInMessagesIsStruckOutHoweverItIsCut() {
        String medium = "x".repeat(300);
        String large = "y".repeat(70_000);
        String sent = frame(0x81, "a " + VALUE + " b") + frame(0x82, medium + VALUE) + frame(0x81, "");
        String pieces = frame(0x01, "x sk-a")
                + frame(0x89, VALUE)
                + frame(0x00, "ab-a")
                + frame(0x80, "ac!")
                + frame(0x81, large + VALUE);
        String wanted = frame(0x81, "a " + STARS + " b")
                + frame(0x82, medium + STARS)
                + frame(0x81, "")
                + frame(0x01, "x ****")
                + frame(0x89, VALUE)
                + frame(0x00, "****")
                + frame(0x80, "**!")
                + frame(0x81, large + STARS);
        for (int size : new int[] {1, 2, 3, 7, 16, 100, 16_384, 100_000}) {
            assertThat(passed(FramedScrub.Protocol.WEBSOCKET, sent + pieces, size))
                    .as("in pieces of " + size)
                    .isEqualTo(wanted);
        }
    }

    @Test
    void theEndOfAMessagePassesAtOnceAlsoIfAValueBeginsSo() {
        var scrub = scrub(FramedScrub.Protocol.WEBSOCKET);
        assertThat(text(scrub.pass(bytes(frame(0x81, "sk-aab"))))).isEqualTo(frame(0x81, "sk-aab"));
        assertThat(text(scrub.pass(bytes(frame(0x81, "-aac")))))
                .as("another message")
                .isEqualTo(frame(0x81, "-aac"));
        assertThat(text(scrub.pass(bytes(frame(0x01, "sk-aab")))))
                .as("not its end")
                .doesNotContain("sk-");
    }

    @Test
    void lengthsOfGrpcAreNotContent() {
        String sent = message(VALUE) + message("sk-aab") + message("x" + VALUE + "y");
        String wanted = message(STARS) + message("sk-aab") + message("x" + STARS + "y");
        for (int size = 1; size < 40; size++) {
            assertThat(passed(FramedScrub.Protocol.GRPC, sent, size)).isEqualTo(wanted);
        }
        var scrub = scrub(FramedScrub.Protocol.GRPC);
        assertThat(text(scrub.pass(bytes(message("sk-aab"))))).isEqualTo(message("sk-aab"));
    }

    @Test
    void aServerThatSendsNonsenseBreaksNothing() {
        String nonsense = "\u00ff\u00ff" + "\u00ff".repeat(20) + VALUE;
        assertThat(passed(FramedScrub.Protocol.WEBSOCKET, nonsense, 3)).hasSize(nonsense.length());
        assertThat(passed(
                        FramedScrub.Protocol.WEBSOCKET,
                        frame(0x01, "sk-aab") + frame(0x89, "x".repeat(125)).repeat(4000),
                        999))
                .hasSize(8 + 127 * 4000);
    }
}
