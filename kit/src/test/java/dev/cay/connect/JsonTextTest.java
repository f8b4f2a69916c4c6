package dev.cay.connect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.DoubleValue;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import com.google.protobuf.util.JsonFormat;
import dev.cay.testing.Fast;
import dev.cay.wire.filesystem.EntryInfo;
import dev.cay.wire.filesystem.FileType;
import dev.cay.wire.filesystem.ListDirResponse;
import dev.cay.wire.process.ConnectRequest;
import dev.cay.wire.process.ListResponse;
import dev.cay.wire.process.ProcessConfig;
import dev.cay.wire.process.ProcessEvent;
import dev.cay.wire.process.ProcessInfo;
import dev.cay.wire.process.ProcessSelector;
import dev.cay.wire.process.SendSignalRequest;
import dev.cay.wire.process.Signal;
import dev.cay.wire.process.StartResponse;
import java.util.Random;
import org.junit.jupiter.api.Test;

@Fast
class JsonTextTest {
    private static void isTheSame(Message message) throws Exception {
        assertThat(JsonText.knows(message.getDescriptorForType())).isTrue();
        assertThat(new String(JsonText.of(message), UTF_8))
                .isEqualTo(
                        JsonFormat.printer().omittingInsignificantWhitespace().print(message));
    }

    private static StartResponse event(ProcessEvent.Builder event) {
        return StartResponse.newBuilder().setEvent(event).build();
    }

    @Test
    void saysWhatProtobufsOwnPrinterSays() throws Exception {
        isTheSame(StartResponse.getDefaultInstance());
        isTheSame(event(ProcessEvent.newBuilder()
                .setStart(ProcessEvent.StartEvent.newBuilder().setPid(-1))));
        isTheSame(event(ProcessEvent.newBuilder().setKeepalive(ProcessEvent.KeepAlive.getDefaultInstance())));
        isTheSame(event(ProcessEvent.newBuilder()
                .setEnd(ProcessEvent.EndEvent.newBuilder()
                        .setExitCode(-1)
                        .setStatus("a \"quoted\" \\ text, ü €")
                        .setError(""))));
        isTheSame(event(ProcessEvent.newBuilder()
                .setEnd(ProcessEvent.EndEvent.newBuilder().setExited(true))));
        isTheSame(ConnectRequest.newBuilder()
                .setProcess(ProcessSelector.newBuilder().setTag("t"))
                .build());
        isTheSame(
                SendSignalRequest.newBuilder().setSignal(Signal.SIGNAL_SIGKILL).build());
        var random = new Random(3);
        for (int size : new int[] {0, 1, 2, 3, 1000, 32768}) {
            byte[] bytes = new byte[size];
            random.nextBytes(bytes);
            isTheSame(event(ProcessEvent.newBuilder()
                    .setData(ProcessEvent.DataEvent.newBuilder().setStderr(ByteString.copyFrom(bytes)))));
        }
    }

    @Test
    void writesListsMapsLongNumbersAndTimesToo() throws Exception {
        isTheSame(ListResponse.getDefaultInstance());
        isTheSame(ListResponse.newBuilder()
                .addProcesses(ProcessInfo.newBuilder()
                        .setPid(7)
                        .setConfig(ProcessConfig.newBuilder()
                                .setCmd("/bin/bash")
                                .addArgs("-l")
                                .addArgs("")
                                .putEnvs("B", "\"\u0001\\")
                                .putEnvs("A", "")
                                .setCwd("")))
                .addProcesses(ProcessInfo.getDefaultInstance())
                .build());
        for (long seconds : new long[] {-62_135_596_800L, -1, 0, 1, 951_782_400, 1_795_050_888, 253_402_300_799L}) {
            for (int nanos : new int[] {0, 1, 1000, 1_000_000, 120_000_000, 123_456_789, 999_999_999}) {
                isTheSame(EntryInfo.newBuilder()
                        .setName("file")
                        .setSize(Long.MAX_VALUE)
                        .setModifiedTime(
                                Timestamp.newBuilder().setSeconds(seconds).setNanos(nanos))
                        .build());
            }
        }
        isTheSame(ListDirResponse.newBuilder()
                .addEntries(EntryInfo.newBuilder()
                        .setType(FileType.FILE_TYPE_SYMLINK)
                        .setSize(-1)
                        .setMode(0777)
                        .setSymlinkTarget("")
                        .putMetadata("key", "value"))
                .build());
    }

    @Test
    void leavesTheRestToIt() {
        assertThat(JsonText.knows(DoubleValue.getDescriptor())).isFalse();
    }
}
