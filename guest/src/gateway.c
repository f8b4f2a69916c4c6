/* The command `mcp-gateway` of every sandbox: tells the node which MCP gateway is wanted. The node serves the gateway on
 * port 50005 and runs its servers where this sandbox cannot look. Credentials pass through this program and stay nowhere,
 * except for the clients' token in a file that only root reads. */
#include "cay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NODE_PORT 49983
#define GATEWAY_PORT "50005"
#define HOME "/etc/mcp-gateway"
#define TOKEN_FILE HOME "/.token"
#define LOG_FILE "/var/log/mcp-gateway/gateway.log"
#define LONGEST_TOKEN 1024
#define LARGEST_CONFIG (1u << 20)
#define LARGEST_ANSWER (1u << 20)
/* A package may have to be fetched, which the node gives up after ten minutes. */
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

struct text {
    char *bytes;
    size_t length, room;
};

/* What the command line and the environment say. */
struct wish {
    const char *config, *token, *meta;
    int save, foreground;
};

static void fail(const char *what, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    fputs("mcp-gateway: ", stderr);
    vfprintf(stderr, what, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void add(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length + 1);
        text->bytes = realloc(text->bytes, text->room);
        if (!text->bytes)
            fail("not enough memory");
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

static void add_text(struct text *text, const char *bytes)
{
    add(text, bytes, strlen(bytes));
}

static void add_header(struct text *request, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    add_text(request, name);
    add_text(request, ": ");
    add_text(request, value);
    add_text(request, "\r\n");
}

/* Reads all there is; false at an error or above the limit. */
static int read_all(int fd, struct text *text, size_t limit)
{
    char chunk[16384];
    ssize_t got;
    add(text, "", 0);
    while ((got = read(fd, chunk, sizeof chunk)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || text->length + (size_t)got > limit)
            return 0;
        add(text, chunk, (size_t)got);
    }
    return 1;
}

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

/* The token of the gateway that was begun here last, for those who may read it; else NULL. */
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

static int connect_to_node(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(NODE_PORT)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) ||
        connect(fd, (struct sockaddr *)&address, sizeof address))
        fail("Cay does not answer: %s", strerror(errno));
    return fd;
}

static void send_all(int fd, const struct text *text)
{
    for (size_t sent = 0; sent < text->length;) {
        ssize_t now = send(fd, text->bytes + sent, text->length - sent, MSG_NOSIGNAL);
        if (now < 0 && errno != EINTR)
            return; /* The answer says why not. */
        sent += now > 0 ? (size_t)now : 0;
    }
}

static void add_character(struct text *text, unsigned long code)
{
    char bytes[4];
    size_t length = 0;
    if (code < 0x80)
        bytes[length++] = (char)code;
    else if (code < 0x800)
        bytes[length++] = (char)(0xc0 | code >> 6);
    else
        bytes[length++] = (char)(0xe0 | code >> 12);
    if (code >= 0x800)
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    if (code >= 0x80)
        bytes[length++] = (char)(0x80 | (code & 0x3f));
    add(text, bytes, length);
}

/* A string of JSON, from behind its opening quote. */
static void unquote(const char *from, struct text *text)
{
    for (; *from && *from != '"'; from++) {
        if (*from != '\\') {
            add(text, from, 1);
            continue;
        }
        char digits[5] = {0};
        switch (*++from) {
        case 0:
            return;
        case 'n':
            add(text, "\n", 1);
            break;
        case 't':
            add(text, "\t", 1);
            break;
        case 'u':
            for (int i = 0; i < 4 && from[1]; i++)
                digits[i] = *++from;
            add_character(text, strtoul(digits, NULL, 16));
            break;
        default:
            add(text, from, 1);
        }
    }
}

/* The field `message` of an answer, or all of the answer. */
static const char *message_of(const char *body)
{
    static const char field[] = "\"message\":";
    const char *found = strstr(body, field);
    if (found) {
        found += sizeof field - 1;
        found += strspn(found, " ");
    }
    struct text message = {0};
    add(&message, "", 0);
    if (found && *found == '"')
        unquote(found + 1, &message);
    return message.length ? message.bytes : body;
}

/* Says something to the node and returns the body of its answer. HTTP/1.0, so that bodies are never in chunks.
 * `unfinished` is told whether the node is still at work; NULL to wait until it has finished. */
static const char *ask(const char *path, const struct wish *wish, const char *body, int *unfinished)
{
    struct text request = {0}, answer = {0};
    char first[128], length[64];
    snprintf(first, sizeof first, "POST /mcp-gateway/%s HTTP/1.0\r\nHost: localhost:%d\r\n", path, NODE_PORT);
    add_text(&request, first);
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
    add_text(&request, length);
    add_text(&request, "Content-Type: application/json\r\n");
    add_header(&request, "X-Gateway-Progress", unfinished ? "1" : NULL);
    add_header(&request, "X-Gateway-Token", wish->token);
    add_header(&request, "X-Gateway-Meta-Tools", wish->meta);
    /* What proves that the gateway there may be replaced: root changes the token, others have to know it. */
    const char *known = saved_token();
    add_header(&request, "X-Gateway-Current-Token", known ? known : wish->token);
    add_text(&request, "\r\n");
    add_text(&request, body);
    int fd = connect_to_node();
    send_all(fd, &request);
    errno = 0;
    if (!read_all(fd, &answer, LARGEST_ANSWER) && !answer.length)
        fail("Cay does not answer: %s", errno == EAGAIN ? "it takes too long" : strerror(errno));
    close(fd);
    int status = 0;
    const char *end = strstr(answer.bytes, "\r\n\r\n");
    if (!end || sscanf(answer.bytes, "HTTP/1.%*1[01] %3d", &status) != 1)
        fail("Cay does not answer as it should");
    end += 4;
    if (status < 200 || status > 299)
        fail("%s", message_of(end));
    if (unfinished)
        *unfinished = status == 202;
    return end;
}

/* Whole or not at all, and never readable by others. */
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

/* Prints the log as it grows. The node writes it anew as a whole: what was printed is not printed again. */
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

/* Keys as a list of JSON. */
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
