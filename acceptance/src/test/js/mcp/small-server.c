/* An MCP server that needs nothing but the kernel, for images from scratch: one tool, which tells the variables that the
 * server was asked to tell. Usage: small-server TOOL [VARIABLE...] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
    static char line[1 << 20];
    const char *tool = argc > 1 ? argv[1] : "tell";
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
                   "\"serverInfo\":{\"name\":\"small\",\"version\":\"1\"}}}\n");
        else if (!strcmp(method, "\"tools/list\""))
            printf("\"result\":{\"tools\":[{\"name\":\"%s\",\"description\":\"Tells its variables.\","
                   "\"inputSchema\":{\"type\":\"object\"}}]}}\n",
                   tool);
        else if (!strcmp(method, "\"tools/call\"")) {
            printf("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"uid=%d", getuid());
            for (int i = 2; i < argc; i++)
                printf(" %s=%s", argv[i], getenv(argv[i]) ? getenv(argv[i]) : "");
            printf("\"}]}}\n");
        } else if (!strcmp(method, "\"ping\""))
            printf("\"result\":{}}\n");
        else
            printf("\"error\":{\"code\":-32601,\"message\":\"unknown\"}}\n");
    }
    return 0;
}
