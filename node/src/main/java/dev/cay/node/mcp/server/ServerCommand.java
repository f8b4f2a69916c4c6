package dev.cay.node.mcp.server;

import dev.cay.node.files.Account;
import dev.cay.node.files.FileTree;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.guest.Spawn;
import dev.cay.node.image.NodeLayer;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.repository.RepositoryLayers;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The command of each connection to a server. Its text form is empty, because it contains credentials.
record ServerCommand(List<String> line, Map<String, String> environment, String workdir, Account account) {
    static final String TAG = "mcp-server";

    private static final String USER = "user";
    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /// The command of a plan. A server from an image runs as the image says: its user, directory and variables, to
    /// which those of the catalog are added. All others run as `user`, in its home; one from a repository in its
    /// clone.
    ///
    /// @param files of its side sandbox
    static ServerCommand of(LaunchPlan plan, ServerPreparation.Prepared prepared, FileTree files) throws IOException {
        var image = prepared.image();
        var account = account(plan, image, files);
        var all = new TreeMap<>(NodeLayer.environment());
        all.putAll(Map.of("PATH", PATH, "HOME", account.home()));
        if (image == null) {
            all.put("LANG", "C.UTF-8");
        } else {
            all.putAll(image.environment());
        }
        all.putAll(plan.environment());
        String workdir = workdir(plan, image, account);
        if (image != null) {
            files.makeDirectory(new SandboxPath(workdir), Account.ROOT);
        }
        return new ServerCommand(prepared.line(), all, workdir, account);
    }

    private static String workdir(LaunchPlan plan, @Nullable ServerImage image, Account account) {
        if (image != null) {
            return image.workdir().isEmpty() ? "/" : image.workdir();
        }
        return plan.start() instanceof LaunchPlan.Repository
                ? account.home() + "/" + RepositoryLayers.DIRECTORY
                : account.home();
    }

    /// A user by name, or by numbers as in images.
    private static Account account(LaunchPlan plan, @Nullable ServerImage image, FileTree files) throws IOException {
        String user = plan.user() == null || plan.user().isBlank() ? usual(image) : plan.user();
        return files.findAccount(user)
                .orElseThrow(() -> new CayException(
                        ErrorKind.INVALID_ARGUMENT,
                        "server %s is to run as %s, but its sandbox has no such user".formatted(plan.name(), user)));
    }

    private static String usual(@Nullable ServerImage image) {
        if (image == null) {
            return USER;
        }
        return image.user().isEmpty() ? "0" : image.user();
    }

    Spawn spawn() {
        return new Spawn(
                line,
                environment.entrySet().stream()
                        .map(variable -> variable.getKey() + "=" + variable.getValue())
                        .toList(),
                workdir,
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
