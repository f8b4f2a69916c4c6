package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.protobuf.Descriptors.MethodDescriptor;
import dev.cay.wire.filesystem.FilesystemOuterClass;
import dev.cay.wire.process.ProcessOuterClass;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;

/// Calls of Connect RPC, every method: bodies and envelopes, JSON and protobuf, compressed or said to be.
final class RpcInputs {
    private static final List<MethodDescriptor> METHODS = Stream.of(
                    ProcessOuterClass.getDescriptor(), FilesystemOuterClass.getDescriptor())
            .flatMap(file -> file.getServices().stream())
            .flatMap(service -> service.getMethods().stream())
            .toList();
    private static final List<String> TIMEOUTS = List.of("1", "50", "1000", "0", "-5", "99999999999", "x", "", "1.5");
    private static final List<String> USERS =
            List.of("root", "user", "user", "user", "nobody", "", "a:b", "\u00ff", "../x");

    private RpcInputs() {}

    static byte[] request(Dice dice, FuzzedSandbox.Name name) {
        var method = dice.pick(METHODS);
        boolean stream = method.isClientStreaming() || method.isServerStreaming();
        if (dice.oneIn(25)) {
            stream = !stream;
        }
        boolean json = dice.oneIn(2);
        var request = RawRequest.toSandbox(
                        name, "POST", "/%s/%s".formatted(method.getService().getFullName(), method.getName()))
                .with("Content-Type", contentType(dice, stream, json))
                .as(dice.pick(USERS));
        if (dice.oneIn(6)) {
            request.with("Connect-Timeout-Ms", dice.pick(TIMEOUTS));
        }
        if (dice.oneIn(12)) {
            request.with("Keepalive-Ping-Interval", dice.pick(TIMEOUTS));
        }
        if (dice.oneIn(12)) {
            request.with(
                    "Cay-Output-From",
                    dice.pick("stdout=0", "stdout=-1,stderr=5", "pty=99999999999999999999", "x", ","));
        }
        boolean zipped = dice.oneIn(8);
        if (zipped) {
            String encoding = dice.oneIn(8) ? dice.pick("br", "", "gzip, gzip") : "gzip";
            request.with(stream ? "Connect-Content-Encoding" : "Content-Encoding", encoding);
        }
        var messages = new RpcMessages(dice, method.getInputType());
        return request.bytes(
                dice, stream ? envelopes(dice, messages, json, zipped) : body(dice, messages, json, zipped));
    }

    private static String contentType(Dice dice, boolean stream, boolean json) {
        if (dice.oneIn(40)) {
            return dice.pick(
                    "text/plain", "application/grpc", "application/connect+", "", ";", "application/json; charset=x");
        }
        return (stream ? "application/connect+" : "application/") + (json ? "json" : "proto");
    }

    private static byte[] body(Dice dice, RpcMessages messages, boolean json, boolean zipped) {
        byte[] message = messages.next(json);
        return zipped ? compressed(dice, message) : message;
    }

    private static byte[] envelopes(Dice dice, RpcMessages messages, boolean json, boolean zipped) {
        var out = new ByteArrayOutputStream();
        for (int i = dice.oneIn(3) ? dice.below(6) : 1; i > 0; i--) {
            byte[] message = messages.next(json);
            boolean pressed = zipped && dice.oneIn(2);
            byte[] body = pressed ? compressed(dice, message) : message;
            int flags = dice.oneIn(20) ? dice.below(256) : pressed ? 1 : 0;
            int length = dice.oneIn(20)
                    ? dice.pick(0, body.length + 1, Math.max(0, body.length - 1), -1, Integer.MAX_VALUE, 16 << 20)
                    : body.length;
            out.writeBytes(
                    ByteBuffer.allocate(5).put((byte) flags).putInt(length).array());
            out.writeBytes(body);
        }
        if (dice.oneIn(8)) {
            out.writeBytes("\u0002\u0000\u0000\u0000\u0002{}".getBytes(ISO_8859_1));
        }
        return out.toByteArray();
    }

    private static byte[] compressed(Dice dice, byte[] message) {
        if (dice.oneIn(30)) {
            // Small on the wire, large in memory.
            return RawRequest.gzip(new byte[dice.size(40 << 20)]);
        }
        byte[] zipped = RawRequest.gzip(message);
        return dice.oneIn(6) ? Mutator.of("\u001f\u008b", "\u0000").mutate(dice, zipped) : zipped;
    }
}
