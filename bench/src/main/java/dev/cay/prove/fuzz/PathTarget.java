package dev.cay.prove.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/// Path strings, for every call that takes one.
final class PathTarget implements Target {

    /// Half a character can only be written as an escape.
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private static final String SERVICE = "/filesystem.Filesystem/";
    private static final List<String> UNARY = List.of("Stat", "ListDir", "MakeDir", "Move", "Remove", "CreateWatcher");

    private final Wire wire = new Wire();
    private final Doors doors;
    private final Prey prey;

    PathTarget(Doors doors, Prey prey) {
        this.doors = doors;
        this.prey = prey;
    }

    @Override
    public String name() {
        return "paths";
    }

    @Override
    public Played play(long seed) throws IOException {
        var dice = new Dice(seed);
        var input = Input.of(dice, doors.plain(), request(dice), Input.Speech.HTTP1);
        return wire.send(input).judge(input);
    }

    private byte[] request(Dice dice) {
        String user = dice.oneIn(3) ? "root" : "user";
        return switch (dice.below(10)) {
            case 0, 1 -> download(dice, user);
            case 2, 3 -> upload(dice, user);
            case 4 -> compose(dice, user);
            case 5 -> watch(dice, user);
            default -> call(dice, user);
        };
    }

    private byte[] download(Dice dice, String user) {
        var request = RawRequest.toSandbox(prey.name(), dice.oneIn(3) ? "HEAD" : "GET", files(dice, user));
        if (dice.oneIn(4)) {
            request.with(
                    "Range", dice.pick("bytes=0-0", "bytes=5-", "bytes=-1", "bytes=0-9223372036854775807", "bytes=a"));
        } else {
            // The hole is a terabyte; the proof is not about reading it.
            request.with("Range", "bytes=0-99999");
        }
        return request.bytes();
    }

    private byte[] upload(Dice dice, String user) {
        return RawRequest.toSandbox(prey.name(), "POST", files(dice, user))
                .with("Content-Type", "application/octet-stream")
                .bytes(dice, dice.bytes(dice.size(2000)));
    }

    private String files(Dice dice, String user) {
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

    private byte[] compose(Dice dice, String user) {
        var paths = new PathStrings(dice);
        var sources = new String[dice.size(5)];
        java.util.Arrays.setAll(sources, _ -> paths.destructible());
        return json(
                dice,
                RawRequest.toSandbox(prey.name(), "POST", "/files/compose"),
                Map.of("source_paths", sources, "destination", paths.next(), "username", user));
    }

    private byte[] watch(Dice dice, String user) {
        byte[] message =
                JSON.writeValueAsBytes(Map.of("path", new PathStrings(dice).next(), "recursive", dice.oneIn(2)));
        return RawRequest.toSandbox(prey.name(), "POST", SERVICE + "WatchDir")
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

    private byte[] call(Dice dice, String user) {
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
        return json(
                dice,
                RawRequest.toSandbox(prey.name(), "POST", SERVICE + method).as(user),
                message);
    }

    private static byte[] json(Dice dice, RawRequest request, Map<String, ?> message) {
        return request.with("Content-Type", "application/json").bytes(dice, JSON.writeValueAsBytes(message));
    }

    @Override
    public String tidy() throws IOException, InterruptedException {
        return prey.tidy();
    }

    @Override
    public String settle() throws IOException, InterruptedException {
        return prey.settle();
    }

    @Override
    public void close() throws IOException {
        wire.close();
        prey.close();
    }
}
