package dev.cay.node.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.cay.node.host.Programs;
import dev.cay.node.image.oci.ImageReference;
import dev.cay.node.image.oci.Images;
import dev.cay.node.image.oci.LayerLimits;
import dev.cay.node.image.oci.RegistryCredentials;
import dev.cay.node.image.oci.RegistrySettings;
import dev.cay.node.mcp.catalog.LaunchPlan;
import dev.cay.node.mcp.catalog.ServerLaunch;
import dev.cay.testing.NeedsRoot;
import dev.cay.testing.OwnRegistry;
import dev.cay.wire.CayException;
import dev.cay.wire.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Servers that are published as container images. These have one static program and nothing else.
@NeedsRoot
class ServerImageTest extends ServerHomeTest {
    /// Says what it finds around it. Takes `$TAKE` megabytes, appends to the file `$WRITE` and shows the file `$SHOW`,
    /// if these are set.
    private static final String PROGRAM = """
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>

            extern char **environ;

            int main(int argc, char **argv)
            {
                char text[4096] = "", cwd[256] = "";
                for (int taken = 0; taken < atoi(getenv("TAKE") ? getenv("TAKE") : "0"); taken++)
                    memset(malloc(1 << 20), 1, 1 << 20);
                FILE *file = getenv("WRITE") ? fopen(getenv("WRITE"), "a") : NULL;
                if (file) {
                    fputs("+", file);
                    fclose(file);
                }
                file = getenv("SHOW") ? fopen(getenv("SHOW"), "r") : NULL;
                if (file) {
                    if (!fgets(text, sizeof text, file))
                        text[0] = 0;
                    fclose(file);
                }
                printf("{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"up\\",\\"params\\":{\\"uid\\":%d,\\"gid\\":%d,\\"cwd\\":\\"%s\\",",
                       getuid(), getgid(), getcwd(cwd, sizeof cwd));
                printf("\\"shown\\":\\"%s\\",\\"line\\":[", text);
                for (int i = 0; i < argc; i++)
                    printf("%s\\"%s\\"", i ? "," : "", argv[i]);
                printf("],\\"env\\":[");
                for (int i = 0; environ[i]; i++)
                    printf("%s\\"%s\\"", i ? "," : "", environ[i]);
                printf("]}}\\n");
                fflush(stdout);
                while (getchar() != EOF)
                    ;
                return 0;
            }
            """;

    /// Listens at port 8080 and answers each POST as a server of streamable HTTP does. Ends when it is asked to.
    private static final String LISTENER = """
            #include <arpa/inet.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>

            int main(void)
            {
                struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(8080)};
                int socket_fd = socket(AF_INET, SOCK_STREAM, 0), served = 0, yes = 1;
                setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
                if (bind(socket_fd, (struct sockaddr *)&address, sizeof address) || listen(socket_fd, 8))
                    return 1;
                while (1) {
                    static char request[65536];
                    char body[256] = "", answer[512];
                    int client = accept(socket_fd, NULL, NULL), length = 0, got;
                    char *end = NULL, *size = NULL;
                    request[0] = 0;
                    while (!end || length < end - request + atoi(size ? size + 15 : "0")) {
                        if ((got = read(client, request + length, sizeof request - 1 - length)) <= 0)
                            break;
                        request[length += got] = 0;
                        end = strstr(request, "\\r\\n\\r\\n");
                        end = end ? end + 4 : NULL;
                        size = strstr(request, "Content-Length:");
                    }
                    int post = !strncmp(request, "POST /mcp ", 10);
                    if (post && strstr(request, "\\"end\\""))
                        return 7;
                    if (post && strstr(request, "\\"id\\""))
                        snprintf(body, sizeof body, "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{\\"served\\":%d}}", ++served);
                    const char *status = !post ? "405 Method Not Allowed" : *body ? "200 OK" : "202 Accepted";
                    snprintf(answer, sizeof answer,
                             "HTTP/1.1 %s\\r\\nContent-Type: application/json\\r\\nContent-Length: %zu\\r\\n"
                             "Connection: close\\r\\n\\r\\n%s", status, strlen(body), body);
                    if (length && write(client, answer, strlen(answer)) < 0)
                        return 1;
                    close(client);
                }
            }
            """;

    private OwnRegistry registry;
    private Images images;

    @BeforeEach
    void startRegistry() throws Exception {
        registry = OwnRegistry.start(place.directory().resolve("registry"), false);
        homes.close();
        homes = homes(node, IDLE);
    }

    @AfterEach
    void stopRegistry() {
        registry.close();
    }

    @Override
    Images images(TestNode where) {
        if (registry == null) {
            return super.images(where);
        }
        var settings = RegistrySettings.DEFAULT.withPlainHttp(Set.of(registry.host()));
        images = new Images(
                where.host.layers(),
                place.directory().resolve("cache"),
                settings,
                LayerLimits.DEFAULT,
                () -> Images.client(settings).build());
        return images;
    }

    /// @param files of the image beside its program, by their paths
    private String push(String name, Map<String, Object> config, Map<String, String> files) throws IOException {
        return push(name, PROGRAM, config, files);
    }

    private String push(String name, String program, Map<String, Object> config, Map<String, String> files)
            throws IOException {
        var layer = Files.createTempDirectory(place.directory(), "layer");
        var source = Files.writeString(place.directory().resolve("server.c"), program);
        Programs.ofHost().require(TestNode.LIMIT, "gcc", "-O1", "-static", "-o", layer + "/server", source.toString());
        for (var file : files.entrySet()) {
            var place = layer.resolve(file.getKey());
            Files.createDirectories(place.getParent());
            Files.writeString(place, file.getValue());
        }
        var archive = Files.createTempFile(place.directory(), "image", ".tar");
        try (var out = Files.newOutputStream(archive)) {
            images.write(List.of(layer), config, name + ":latest", out);
        }
        String reference = registry.host() + "/" + name;
        images.push(archive, ImageReference.parse(reference), RegistryCredentials.none(), (_, _, _) -> {});
        return reference;
    }

    private static LaunchPlan plan(String image, List<String> arguments, Map<String, String> environment) {
        return plan(new LaunchPlan.Image(image, arguments), environment);
    }

    private static LaunchPlan withVolumes(String key, LaunchPlan plan, LaunchPlan.Volume... volumes) {
        return new LaunchPlan(
                key,
                plan.name(),
                plan.start(),
                plan.environment(),
                List.of(volumes),
                null,
                plan.network(),
                false,
                false);
    }

    private JsonNode up(LaunchPlan plan) throws Exception {
        var client = new Client();
        try (var home = open(plan);
                var _ = home.connect(client)) {
            return client.next().tree().path("params");
        }
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asString).toList();
    }

    @Test
    void runAsTheirConfigurationSays() throws Exception {
        String image = push(
                "mcp/scratch",
                Map.of(
                        "Entrypoint", List.of("/server"),
                        "Cmd", List.of("usual"),
                        "Env", List.of("FROM_IMAGE=1", "BOTH=image", "PATH=/own"),
                        "User", "12:34",
                        "WorkingDir", "/app/here"),
                Map.of());

        var told = up(plan(image, List.of("one", "two"), Map.of("MINE", "2", "BOTH", "catalog")));
        assertThat(texts(told.path("line"))).containsExactly("/server", "one", "two");
        assertThat(told.path("uid").asInt()).isEqualTo(12);
        assertThat(told.path("gid").asInt()).isEqualTo(34);
        assertThat(told.path("cwd").asString()).isEqualTo("/app/here");
        assertThat(texts(told.path("env")))
                .contains("FROM_IMAGE=1", "BOTH=catalog", "MINE=2", "PATH=/own")
                .noneMatch(variable -> variable.startsWith("LANG="));

        assertThat(texts(up(plan(image, List.of(), Map.of())).path("line"))).containsExactly("/server", "usual");
    }

    @Test
    void stayTheSameWhateverTheRegistrySaysLater() throws Exception {
        String image = push("mcp/moving", Map.of("Entrypoint", List.of("/server", "first")), Map.of());
        assertThat(texts(up(plan(image, List.of(), Map.of())).path("line"))).contains("first");

        push("mcp/moving", Map.of("Entrypoint", List.of("/server", "second")), Map.of());
        assertThat(texts(up(plan(image, List.of(), Map.of())).path("line"))).contains("first");

        registry.kill();
        homes.close();
        homes = homes(node, IDLE);
        assertThat(texts(up(plan(image, List.of(), Map.of())).path("line"))).contains("first");
    }

    @Test
    void areCarriedToAMachineWithoutARegistry() throws Exception {
        String image = push("mcp/carried", Map.of("Entrypoint", List.of("/server")), Map.of());
        String other = push("mcp/other", Map.of("Entrypoint", List.of("/server", "other")), Map.of());
        var layout = place.directory().resolve("carried");
        for (String each : List.of(image, other)) {
            images.fetch(ImageReference.parse(each), RegistryCredentials.none(), layout, (_, _, _) -> {});
        }
        assertThat(Images.names(layout)).containsExactlyInAnyOrder(image + ":latest", other + ":latest");
        registry.kill();

        assertThatThrownBy(() -> up(plan(image, List.of(), Map.of()))).hasMessageContaining("cannot be reached");
        try (var servers = servers(node)) {
            servers.load(layout, image, (_, _, _) -> {});
        }
        nanos.addAndGet(Duration.ofHours(1).toNanos());
        assertThat(texts(up(plan(image, List.of(), Map.of())).path("line"))).containsExactly("/server");
        assertThatThrownBy(() -> up(plan(other, List.of(), Map.of()))).hasMessageContaining("cannot be reached");
    }

    @Test
    void areDialledAtTheirPort() throws Exception {
        String image = push("mcp/listener", LISTENER, Map.of("Entrypoint", List.of("/server")), Map.of());
        var port = new ServerLaunch.Port(8080, "/mcp", ServerLaunch.Transport.STREAMABLE_HTTP);
        try (var home = open(plan(new LaunchPlan.Image(image, List.of(), port), Map.of()))) {
            var first = new Client();
            var second = new Client();
            var one = home.connect(first);
            var two = home.connect(second);
            one.send(message("{'jsonrpc':'2.0','id':1,'method':'initialize'}"));
            assertThat(first.next().tree().at("/result/served").asInt()).isEqualTo(1);
            two.send(message("{'jsonrpc':'2.0','id':1,'method':'initialize'}"));
            assertThat(second.next().tree().at("/result/served").asInt())
                    .as("one process for all")
                    .isEqualTo(2);
            assertThat(sides()).hasSize(1);

            two.close();
            one.send(message("{'jsonrpc':'2.0','id':2,'method':'end'}"));
            assertThat(first.reason()).contains("exit status 7");
            var third = new Client();
            home.connect(third).send(message("{'jsonrpc':'2.0','id':1,'method':'initialize'}"));
            assertThat(third.next().tree().at("/result/served").asInt())
                    .as("started again")
                    .isEqualTo(1);
        }
        assertThat(sides()).isEmpty();
    }

    @Test
    void sayWhyTheyCannotBeHad() throws Exception {
        String empty = push("mcp/nothing", Map.of(), Map.of());
        assertThatThrownBy(() -> up(plan(empty, List.of(), Map.of())))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("names no program");

        assertThatThrownBy(() -> up(plan(registry.host() + "/mcp/absent", List.of(), Map.of())))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("mcp/absent");

        registry.kill();
        assertThatThrownBy(() -> up(plan(registry.host() + "/mcp/other", List.of(), Map.of())))
                .isInstanceOf(CayException.class)
                .hasMessageContaining("cannot be reached");
    }

    @Test
    void keepTheirVolumesWithTheOwner() throws Exception {
        String image = push("mcp/keeper", Map.of("Entrypoint", List.of("/server")), Map.of("app/data/seed", "image"));
        var environment = Map.of("WRITE", "/app/data/seed", "SHOW", "/app/data/seed");
        var volume = new LaunchPlan.Volume("memory", "/app/data", false);
        var keeper = withVolumes("keeper", plan(image, List.of(), environment), volume);

        assertThat(up(keeper).path("shown").asString()).isEqualTo("image+");
        assertThat(up(keeper).path("shown").asString()).isEqualTo("image++");

        var other = withVolumes("other", plan(image, List.of(), environment), volume);
        assertThat(up(other).path("shown").asString()).as("another server").isEqualTo("image+");

        var readOnly = withVolumes(
                "keeper", plan(image, List.of(), environment), new LaunchPlan.Volume("memory", "/app/data", true));
        assertThat(up(readOnly).path("shown").asString()).as("read only").isEqualTo("image++");

        node.keepers.create(TestNode.spec("another"));
        var client = new Client();
        try (var home = homes.open(new SandboxId("another"), keeper);
                var _ = home.connect(client)) {
            assertThat(client.next().tree().at("/params/shown").asString())
                    .as("another owner")
                    .isEqualTo("image+");
        }
    }

    /// Each alone would have had enough.
    @Test
    void shareTheMemoryOfTheirOwnersServers() throws Exception {
        String image = push("mcp/hungry", Map.of("Entrypoint", List.of("/server")), Map.of());
        var hungry = plan(image, List.of(), Map.of("TAKE", "300"));
        var first = new Client();
        var second = new Client();
        try (var one = open(hungry);
                var other = open(hungry)) {
            one.connect(first);
            first.next();
            other.connect(second);
            assertThat(CompletableFuture.anyOf(first.over, second.over))
                    .as("two that took 300 MB of %d MB", TestNode.SERVERS.memoryMB())
                    .succeedsWithin(Duration.ofSeconds(30));
            assertThat(node.run(OWNER.value(), "echo alive")).isEqualTo("alive");
        }
    }

    @Test
    void getACopyOfAFileThatTheOwnerHas() throws Exception {
        String image = push("mcp/reader", Map.of("Entrypoint", List.of("/server"), "User", "1000"), Map.of());
        var volume = new LaunchPlan.Volume("/home/user/config", "/etc/reader/config", true);
        var plan = withVolumes("reader", plan(image, List.of(), Map.of("SHOW", "/etc/reader/config")), volume);
        int pid = node.runc.find(OWNER).orElseThrow().pid();
        var config = Path.of("/proc/%d/root/home/user/config".formatted(pid));

        Files.writeString(config, "first");
        assertThat(up(plan).path("shown").asString()).isEqualTo("first");
        Files.writeString(config, "second");
        assertThat(up(plan).path("shown").asString()).isEqualTo("second");
    }

    @Test
    void mayNotMountOverWhatTheNodeNeeds() throws Exception {
        String image = push("mcp/bold", Map.of("Entrypoint", List.of("/server")), Map.of());
        for (String target : List.of("/", "/proc", "/dev/shm", "/sys/fs", "/run/.cay-guest", "/x/../proc")) {
            var plan = withVolumes("bold", plan(image, List.of(), Map.of()), new LaunchPlan.Volume("v", target, false));
            assertThatThrownBy(() -> up(plan)).as(target).hasMessageContaining("where none can be mounted");
        }
    }
}
