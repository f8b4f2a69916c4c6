/* cay-probe: tries to get out of the sandbox it runs in. Each probe makes one attempt and says what came of it.
 *
 * A probe does no harm where it succeeds: it opens and does not write, writes what is there already, or passes the
 * kernel's permission check with arguments that the kernel refuses afterwards. */
#ifndef CAY_PROBE_H
#define CAY_PROBE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

struct probe {
    const char *name;
    void (*attempt)(void);
};

extern const struct probe namespace_probes[], kernel_probes[], file_probes[], outside_probes[], network_probes[];

/* What the caller knows about the world outside, given as NAME=VALUE; empty when it was not given. */
const char *known(const char *name);

/* Each ends the probe. The attempt failed as it should; it got through; it could not be made. */
void refused(const char *detail, ...) __attribute__((noreturn, format(printf, 1, 2)));
void succeeded(const char *detail, ...) __attribute__((noreturn, format(printf, 1, 2)));
void unclear(const char *detail, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Judges a call by its result and errno: got through when it worked, and also when it failed for another reason than
 * the lack of permission, as the arguments are nonsense on purpose. */
void judge(const char *what, long result) __attribute__((noreturn));

/* As judge, but any failure is a refusal. */
void judge_strictly(const char *what, long result) __attribute__((noreturn));

/* A directory of the probe's own. */
const char *scratch(void);

/* Modes that are no probes: a race partner for the node's file access, somebody to be reached, a name server that
 * answers everything with one address, one that makes pipes and
 * terminals block for all who share them, an MCP server, and programs that check their own memory. */
int run_swap(int argc, char **argv);
int run_juggle(int argc, char **argv);
int run_server(int argc, char **argv);
int run_name_server(int argc, char **argv);
int run_stall(int argc, char **argv);
int run_mcp(int argc, char **argv);
int run_remember(int argc, char **argv);
int run_tear(int argc, char **argv);
int run_waylay(int argc, char **argv);

#endif
