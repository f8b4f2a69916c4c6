package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/// Path strings, for every call that takes one.
final class PathInputs {
    /// Half a character can only be written as an escape.
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private static final String SERVICE = "/filesystem.Filesystem/";
    private static final List<String> UNARY = List.of("Stat", "ListDir", "MakeDir", "Move", "Remove", "CreateWatcher");

    private PathInputs() {}

    static byte[] request(Dice dice, FuzzedSandbox.Name name) {
        String user = dice.oneIn(3) ? "root" : "user";
        return switch (dice.below(10)) {
            case 0, 1 -> download(dice, name, user);
            case 2, 3 -> upload(dice, name, user);
            case 4 -> compose(dice, name, user);
            case 5 -> watch(dice, name, user);
            default -> call(dice, name, user);
        };
    }

    private static byte[] download(Dice dice, FuzzedSandbox.Name name, String user) {
        var request = RawRequest.toSandbox(name, dice.oneIn(3) ? "HEAD" : "GET", files(dice, user));
        if (dice.oneIn(4)) {
            request.with(
                    "Range", dice.pick("bytes=0-0", "bytes=5-", "bytes=-1", "bytes=0-9223372036854775807", "bytes=a"));
        } else {
            // The hole is a terabyte; the proof is not about reading it.
            request.with("Range", "bytes=0-99999");
        }
        return request.bytes();
    }

    private static byte[] upload(Dice dice, FuzzedSandbox.Name name, String user) {
        return RawRequest.toSandbox(name, "POST", files(dice, user))
                .with("Content-Type", "application/octet-stream")
                .bytes(dice, dice.bytes(dice.size(2000)));
    }

    private static String files(Dice dice, String user) {
        String path = new PathStrings(dice).next();
        return "/files?username=%s&path=%s".formatted(user, dice.oneIn(4) ? sloppy(path) : RawRequest.encoded(path));
    }

    /// As somebody would send it who never heard of escapes; what would end the request's line has one all the same.
    private static String sloppy(String path) {
        var text = new StringBuilder();
        for (byte one : path.getBytes(UTF_8)) {
            boolean plain = one > ' ' && one < 127 && one != '&' && one != '#' && one != '+';
            text.append(plain ? String.valueOf((char) one) : "%%%02x".formatted(one & 0xff));
        }
        return text.toString();
    }

    private static byte[] compose(Dice dice, FuzzedSandbox.Name name, String user) {
        var paths = new PathStrings(dice);
        var sources = new String[dice.size(5)];
        Arrays.setAll(sources, _ -> paths.destructible());
        return json(
                dice,
                RawRequest.toSandbox(name, "POST", "/files/compose"),
                Map.of("source_paths", sources, "destination", paths.next(), "username", user));
    }

    private static byte[] watch(Dice dice, FuzzedSandbox.Name name, String user) {
        byte[] message =
                JSON.writeValueAsBytes(Map.of("path", new PathStrings(dice).next(), "recursive", dice.oneIn(2)));
        return RawRequest.toSandbox(name, "POST", SERVICE + "WatchDir")
                .with("Content-Type", "application/connect+json")
                .as(user)
                .bytes(
                        dice,
                        ByteBuffer.allocate(5 + message.length)
                                .put((byte) 0)
                                .putInt(message.length)
                                .put(message)
                                .array());
    }

    private static byte[] call(Dice dice, FuzzedSandbox.Name name, String user) {
        var paths = new PathStrings(dice);
        String method = dice.pick(UNARY);
        var message = new LinkedHashMap<String, Object>();
        if (method.equals("Move")) {
            message.put("source", paths.destructible());
            message.put("destination", dice.oneIn(4) ? paths.next() : paths.destructible());
        } else {
            message.put("path", method.equals("Remove") ? paths.destructible() : paths.next());
        }
        if (method.equals("ListDir")) {
            message.put("depth", dice.oneIn(30) ? dice.pick(0L, 4294967295L, 1000L) : dice.between(1, 3));
        }
        return json(dice, RawRequest.toSandbox(name, "POST", SERVICE + method).as(user), message);
    }

    private static byte[] json(Dice dice, RawRequest request, Map<String, ?> message) {
        return request.with("Content-Type", "application/json").bytes(dice, JSON.writeValueAsBytes(message));
    }
}
