/* An MCP server that needs nothing but the kernel: one tool, which tells the server's user, arguments and variables. */
#include "probe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST (1 << 20)

/* The value of a field, as it stands in the message: from behind the colon to the next comma or brace. */
static void field(const char *message, const char *name, char *value, size_t size)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *found = strstr(message, quoted);
    value[0] = 0;
    if (found) {
        found += strlen(quoted);
        found += strspn(found, " ");
        snprintf(value, size, "%.*s", (int)strcspn(found, ",}"), found);
    }
}

/* Inside a string of JSON. */
static void print_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
}

static void print_line(const char *kind, const char *text)
{
    printf("%s ", kind);
    print_text(text);
    printf("\\n");
}

static void tell(int argc, char **argv)
{
    printf("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"user %d:%d\\n", getuid(), getgid());
    for (int i = 0; i < argc; i++)
        print_line("argument", argv[i]);
    for (char **variable = environ; *variable; variable++)
        print_line("variable", *variable);
    printf("\"}]}}\n");
}

int run_mcp(int argc, char **argv)
{
    static char line[LONGEST];
    const char *tool = argc ? argv[0] : "tell";
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    while (fgets(line, sizeof line, stdin)) {
        char id[128], method[128];
        field(line, "id", id, sizeof id);
        field(line, "method", method, sizeof method);
        if (!id[0])
            continue;
        printf("{\"jsonrpc\":\"2.0\",\"id\":%s,", id);
        if (!strcmp(method, "\"initialize\""))
            printf("\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
                   "\"serverInfo\":{\"name\":\"cay-probe\",\"version\":\"1\"}}}\n");
        else if (!strcmp(method, "\"tools/list\""))
            printf("\"result\":{\"tools\":[{\"name\":\"%s\",\"description\":\"Tells what the server was started with.\","
                   "\"inputSchema\":{\"type\":\"object\"}}]}}\n",
                   tool);
        else if (!strcmp(method, "\"tools/call\""))
            tell(argc ? argc - 1 : 0, argv + 1);
        else if (!strcmp(method, "\"ping\""))
            printf("\"result\":{}}\n");
        else
            printf("\"error\":{\"code\":-32601,\"message\":\"unknown\"}}\n");
    }
    return 0;
}
