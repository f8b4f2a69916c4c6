/* The command `mcp-gateway` of every sandbox: sends the node the settings of an MCP gateway. The node serves the
 * gateway on port 50005 and runs its servers outside this sandbox. This program stores no credentials, except for the
 * clients' token in a file that only root reads. */
#include "ask.h"
#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GATEWAY_PORT "50005"
#define HOME "/etc/mcp-gateway"
#define TOKEN_FILE HOME "/.token"
#define LOG_FILE "/var/log/mcp-gateway/gateway.log"
#define LONGEST_TOKEN 1024
#define LARGEST_CONFIG (1u << 20)
/* A package may have to be downloaded, for which the node allows ten minutes. */
#define ANSWER_SECONDS 660
#define LOG_PAUSE_MS 250

static const char usage[] =
    "Usage: mcp-gateway --config JSON [--token TOKEN]    begins the gateway; it goes on in the background\n"
    "       mcp-gateway pull SERVER...                   fetches what servers need to start at once\n"
    "       mcp-gateway status                           shows how the servers are doing\n"
    "\n"
    "  --config JSON       the servers with their options, like {\"notion\": {\"internalIntegrationToken\": \"...\"}}; - reads\n"
    "                      it from standard input\n"
    "  --token TOKEN       what clients must show; GATEWAY_ACCESS_TOKEN comes first, then /etc/mcp-gateway/.token\n"
    "  --save-token=false  does not keep the token in /etc/mcp-gateway/.token\n"
    "  --meta-tools WHICH  off, on or only: tools with which clients find, add, remove and call servers; else as the\n"
    "                      operator has it\n"
    "  --foreground        stays until it is stopped, and prints the log\n"
    "\n"
    "A gateway that is there already is replaced, and servers are fetched, only by who has its token.\n"
    "Clients find the gateway at http://localhost:50005/mcp, and its log in /var/log/mcp-gateway/gateway.log.\n";

/* Options of the command line and the environment. */
struct wish {
    const char *config, *token, *meta;
    int save, foreground;
};

/* A token becomes part of a header. */
static const char *require_token(const char *token, const char *from)
{
    size_t length = strlen(token);
    if (length > LONGEST_TOKEN)
        fail("%s is longer than %d characters", from, LONGEST_TOKEN);
    for (size_t i = 0; i < length; i++)
        if (token[i] < '!' || token[i] > '~')
            fail("%s may have letters, digits and punctuation of ASCII alone", from);
    return token;
}

/* The token of the gateway that was started here last, if this user may read it; else NULL. */
static const char *saved_token(void)
{
    int fd = open(TOKEN_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    struct text text = {0};
    int whole = read_all(fd, &text, LONGEST_TOKEN + 1);
    close(fd);
    if (!whole)
        return NULL;
    text.bytes[strcspn(text.bytes, "\r\n")] = 0;
    return *text.bytes ? require_token(text.bytes, TOKEN_FILE) : NULL;
}

/* Sends a request to the node and returns the body of its answer. `unfinished` is set to whether the node is still
 * working; NULL to wait until it has finished. */
static const char *ask(const char *path, const struct wish *wish, const char *body, int *unfinished)
{
    struct text headers = {0};
    add_header(&headers, "Content-Type", "application/json");
    add_header(&headers, "X-Gateway-Progress", unfinished ? "1" : NULL);
    add_header(&headers, "X-Gateway-Token", wish->token);
    add_header(&headers, "X-Gateway-Meta-Tools", wish->meta);
    /* The permission to replace an existing gateway: root may change its token, others have to know it. */
    const char *known = saved_token();
    add_header(&headers, "X-Gateway-Current-Token", known ? known : wish->token);
    char place[64];
    snprintf(place, sizeof place, "/mcp-gateway/%s", path);
    struct text content = {.bytes = (char *)(uintptr_t)body, .length = strlen(body)};
    int status;
    const char *answer = ask_node(place, &headers, &content, ANSWER_SECONDS, &status);
    if (unfinished)
        *unfinished = status == 202;
    return answer;
}

/* Writes the file atomically, and never readable by others. */
static void save_token(const char *token)
{
    static const char fresh[] = TOKEN_FILE ".new";
    umask(022);
    mkdir(HOME, 0755);
    unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    size_t length = strlen(token);
    if (fd < 0 || write(fd, token, length) != (ssize_t)length || close(fd) || rename(fresh, TOKEN_FILE))
        fail("cannot write " TOKEN_FILE ": %s; run it as root, or with --save-token=false", strerror(errno));
}

/* Prints the log as it grows. The node rewrites the whole file, so printed lines are skipped. */
static void follow_log(void)
{
    off_t printed = 0;
    while (1) {
        int fd = open(LOG_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
        if (size < printed)
            printed = 0;
        char chunk[4096];
        ssize_t got;
        while (fd >= 0 && (got = pread(fd, chunk, sizeof chunk, printed)) > 0) {
            if (write(1, chunk, (size_t)got) != got)
                exit(0);
            printed += got;
        }
        if (fd >= 0)
            close(fd);
        nanosleep(&(struct timespec){.tv_nsec = LOG_PAUSE_MS * 1000000l}, NULL);
    }
}

/* The keys as a JSON list. */
static int pull(int count, char **keys, const struct wish *wish)
{
    if (!count)
        fail("pull needs the keys of servers");
    struct text list = {0};
    add_text(&list, "[");
    for (int i = 0; i < count; i++) {
        add_text(&list, i ? ",\"" : "\"");
        for (const char *at = keys[i]; *at; at++) {
            if ((unsigned char)*at < ' ')
                fail("a key of a server has no control characters");
            if (*at == '"' || *at == '\\')
                add_text(&list, "\\");
            add(&list, at, 1);
        }
        add_text(&list, "\"");
    }
    add_text(&list, "]");
    const char *before = "";
    for (int unfinished = 1; unfinished;) {
        const char *body = ask("pull", wish, list.bytes, &unfinished);
        const char *now = unfinished ? message_of(body) : "";
        if (*now && strcmp(now, before)) {
            puts(now);
            fflush(stdout);
        }
        before = now;
    }
    return 0;
}

static int show_status(const struct wish *wish)
{
    puts(ask("status", wish, "{}", NULL));
    return 0;
}

/* The value of a flag, from "--flag=value" or from the next argument; NULL if it is another flag. */
static const char *value_of(const char *flag, const char *brief, int argc, char **argv, int *at)
{
    const char *given = argv[*at];
    size_t length = strlen(flag);
    if (!strncmp(given, flag, length) && given[length] == '=')
        return given + length + 1;
    if (strcmp(given, flag) && (!brief || strcmp(given, brief)))
        return NULL;
    if (*at + 1 >= argc)
        fail("%s needs a value; see mcp-gateway --help", given);
    return argv[++*at];
}

/* Flags of E2B's program that change nothing here. */
static int is_ignored(int argc, char **argv, int *at)
{
    return value_of("--host", "-H", argc, argv, at) || value_of("--catalog", "-c", argc, argv, at) ||
           value_of("--mapping", "-m", argc, argv, at);
}

static void read_flag(int argc, char **argv, int *at, struct wish *wish)
{
    const char *given = argv[*at], *value;
    if ((value = value_of("--config", NULL, argc, argv, at)))
        wish->config = value;
    else if ((value = value_of("--token", NULL, argc, argv, at)))
        wish->token = require_token(value, "--token");
    else if ((value = value_of("--meta-tools", NULL, argc, argv, at)))
        wish->meta = value;
    else if (!strcmp(given, "--save-token") || !strcmp(given, "--save-token=true"))
        wish->save = 1;
    else if (!strcmp(given, "--save-token=false"))
        wish->save = 0;
    else if (!strcmp(given, "--foreground") || !strcmp(given, "-f"))
        wish->foreground = 1;
    else if ((value = value_of("--port", "-p", argc, argv, at))) {
        if (strcmp(value, GATEWAY_PORT))
            fail("the gateway is always on port " GATEWAY_PORT);
    } else if (!is_ignored(argc, argv, at))
        fail("unknown argument %.40s; see mcp-gateway --help", given);
}

static const char *config_text(const char *given)
{
    if (strcmp(given, "-"))
        return given;
    struct text text = {0};
    if (!read_all(0, &text, LARGEST_CONFIG))
        fail("--config cannot be read from standard input, or is larger than 1 MiB");
    return text.bytes;
}

static int begin(struct wish *wish)
{
    if (*wish->meta && strcmp(wish->meta, "off") && strcmp(wish->meta, "on") && strcmp(wish->meta, "only"))
        fail("--meta-tools must be off, on or only");
    ask("start", wish, config_text(wish->config), NULL);
    if (wish->save && wish->token)
        save_token(wish->token);
    if (wish->foreground)
        follow_log();
    return 0;
}

int run_gateway(int argc, char **argv)
{
    ask_as = "mcp-gateway";
    struct wish wish = {.meta = "", .save = 1};
    const char *given = getenv("GATEWAY_ACCESS_TOKEN");
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(usage, stdout);
            return 0;
        }
        int pulls = !strcmp(argv[i], "pull");
        if (pulls || !strcmp(argv[i], "status")) {
            if (given && *given)
                wish.token = require_token(given, "GATEWAY_ACCESS_TOKEN");
            return pulls ? pull(argc - i - 1, argv + i + 1, &wish) : show_status(&wish);
        }
        read_flag(argc, argv, &i, &wish);
    }
    if (!wish.config) {
        fputs(usage, stderr);
        return 2;
    }
    if (given && *given)
        wish.token = require_token(given, "GATEWAY_ACCESS_TOKEN");
    if (!wish.token || !*wish.token)
        wish.token = saved_token();
    return begin(&wish);
}
