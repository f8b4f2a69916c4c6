package dev.cay.node.mcp.server;

import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.guest.Spawn;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// What is run for each connection to a server. Prints nothing, as credentials are in it.
record ServerCommand(List<String> line, Map<String, String> environment, Account account) {
    static final String TAG = "mcp-server";

    private static final String USER = "user";
    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    private static final Pattern NUMBERS = Pattern.compile("(\\d{1,5})(?::(\\d{1,5}))?");
    private static final int MOST_ID = 65_535;

    /// @param line  program and arguments
    /// @param files of the room it will run in
    static ServerCommand of(LaunchPlan plan, List<String> line, FileTree files) throws IOException {
        var account = account(plan, files);
        for (var volume : plan.volumes()) {
            String source = volume.source().contains("/") ? volume.source() : "/volumes/" + volume.source();
            files.makeDirectory(new SandboxPath(source), account);
            files.makeDirectory(new SandboxPath(volume.target()), account);
        }
        var all = new TreeMap<>(NodeLayer.environment());
        all.putAll(Map.of("PATH", PATH, "HOME", account.home(), "LANG", "C.UTF-8"));
        all.putAll(plan.environment());
        return new ServerCommand(line, all, account);
    }

    /// By name, or by numbers as in images.
    private static Account account(LaunchPlan plan, FileTree files) throws IOException {
        String user = plan.user() == null || plan.user().isBlank() ? USER : plan.user();
        var numbers = NUMBERS.matcher(user);
        if (numbers.matches()) {
            int uid = Integer.parseInt(numbers.group(1));
            int gid = numbers.group(2) == null ? uid : Integer.parseInt(numbers.group(2));
            if (uid <= MOST_ID && gid <= MOST_ID) {
                return new Account(user, uid, gid, "/tmp", "/bin/sh", List.of(gid));
            }
        }
        return files.findAccount(user)
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "server %s is to run as %s, but its sandbox has no such user".formatted(plan.name(), user)));
    }

    Spawn spawn() {
        return new Spawn(
                line,
                environment.entrySet().stream()
                        .map(variable -> variable.getKey() + "=" + variable.getValue())
                        .toList(),
                account.home(),
                account.uid(),
                account.gid(),
                account.groups(),
                0,
                0,
                true,
                TAG);
    }

    @Override
    public String toString() {
        return "ServerCommand[%d arguments, %d variables]".formatted(line.size() - 1, environment.size());
    }
}
