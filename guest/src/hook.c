/* The OCI hook that connects a sandbox. runc calls it when a container is created and when one is restored, both times
 * with fresh namespaces: one path for both. */
#include "cay.h"
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Watches are cheap compared with instances; an editor or a bundler needs many per instance. */
#define WATCHES_PER_INSTANCE 1024

/* Limits of connections to the node's own listeners inside: accepting them costs the node work that no limit of the
 * sandbox counts. */
#define NODE_CONNECTIONS_PER_SECOND 100
#define NODE_CONNECTIONS_AT_ONCE 300

/* Ended connections are tracked for minutes and not counted as open, so the rate of new ones is limited too. */
#define SECONDS_TO_OPEN_ALL 16

/* A flow without answers stays new to the kernel, so this matches only its first packet. */
#define FIRST_PACKET "ct state new ct status & confirmed == 0"

struct wiring {
    const char *veth, *address_text, *nft, *node_ports;
    uint32_t address, gateway, inner;
    unsigned mtu;
    unsigned long inotify, connections, megabits, memory;
};

static uint32_t parse_address(const char *text, const char *name)
{
    struct in_addr parsed;
    if (inet_pton(AF_INET, text, &parsed) != 1)
        refuse("hook: %s: not an IPv4 address: %s", name, text);
    return parsed.s_addr;
}

static void parse(int argc, char **argv, struct wiring *wiring)
{
    for (int i = 0; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "--veth"))
            wiring->veth = value;
        else if (!strcmp(name, "--address")) {
            wiring->address_text = value;
            wiring->address = parse_address(value, name);
        } else if (!strcmp(name, "--gateway"))
            wiring->gateway = parse_address(value, name);
        else if (!strcmp(name, "--inner"))
            wiring->inner = parse_address(value, name);
        else if (!strcmp(name, "--mtu"))
            wiring->mtu = (unsigned)parse_number(value, name);
        else if (!strcmp(name, "--nft"))
            wiring->nft = value;
        else if (!strcmp(name, "--inotify"))
            wiring->inotify = parse_number(value, name);
        else if (!strcmp(name, "--connections"))
            wiring->connections = parse_number(value, name);
        else if (!strcmp(name, "--megabits"))
            wiring->megabits = parse_number(value, name);
        else if (!strcmp(name, "--memory"))
            wiring->memory = parse_number(value, name);
        else if (!strcmp(name, "--node-ports"))
            wiring->node_ports = value;
        else
            refuse("hook: unknown argument %s", name);
    }
    if (argc % 2 || !wiring->veth || !wiring->address || !wiring->gateway || !wiring->inner || !wiring->mtu
        || !wiring->nft || !wiring->inotify || !wiring->connections || !wiring->memory || !wiring->node_ports)
        refuse("usage: cay-guest hook --veth NAME --address A --gateway G --inner I --mtu N --nft PATH --inotify N"
               " --connections N --megabits N --memory MB --node-ports N,N");
}

/* The runtime's state is on stdin; only the pid is needed. Ids contain no quotes, so the first "pid" is the key. */
static int read_pid(void)
{
    char state[16384];
    size_t length = 0;
    ssize_t got;
    while (length < sizeof state - 1 && (got = read(0, state + length, sizeof state - 1 - length)) > 0)
        length += (size_t)got;
    state[length] = 0;
    char *at = strstr(state, "\"pid\"");
    at = at ? strchr(at, ':') : NULL;
    int pid = at ? atoi(at + 1) : 0;
    if (pid <= 1)
        refuse("hook: no pid in the runtime's state");
    return pid;
}

static int open_namespace(int pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("hook: open %s", path);
    return fd;
}

/* Missing files are skipped, because not every kernel has every setting. */
static void set_switch(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return;
    if (fd < 0 || write(fd, value, strlen(value)) < 0)
        die("hook: write %s to %s", value, path);
    close(fd);
}

static void set_interface_switch(const char *family, const char *interface, const char *name, const char *value)
{
    char path[160];
    snprintf(path, sizeof path, "/proc/sys/net/%s/conf/%s/%s", family, interface, name);
    set_switch(path, value);
}

static unsigned index_of(const char *name)
{
    unsigned index = if_nametoindex(name);
    if (!index)
        die("hook: find interface %s", name);
    return index;
}

/* Each end limits outgoing packets, so both directions are limited; root inside cannot change its end. */
static void limit_bandwidth(const struct wiring *wiring, int netlink, unsigned index)
{
    if (wiring->megabits && link_limit(netlink, index, wiring->megabits * 125000ull))
        die("hook: limit the bandwidth of a link (needs the kernel's sch_tbf, or network.bandwidthMbit: 0)");
}

static void wire_outside(const struct wiring *wiring, int namespace)
{
    int netlink = netlink_open();
    if (netlink < 0)
        die("hook: open netlink");
    /* Namespaces are removed some time after their processes; a link of this name may be one that is being removed. */
    if (link_delete(netlink, wiring->veth) && errno != ENODEV)
        die("hook: remove the old %s", wiring->veth);
    if (link_add_pair(netlink, wiring->veth, wiring->mtu, "eth0", namespace))
        die("hook: make %s", wiring->veth);
    unsigned index = index_of(wiring->veth);
    set_interface_switch("ipv6", wiring->veth, "disable_ipv6", "1");
    /* Root inside may write any source address into its packets; the host takes only the sandbox's own. */
    set_interface_switch("ipv4", wiring->veth, "rp_filter", "1");
    if (address_add(netlink, index, wiring->gateway) || link_up(netlink, index)
        || route_add_host(netlink, index, wiring->address))
        die("hook: set up %s", wiring->veth);
    limit_bandwidth(wiring, netlink, index);
    close(netlink);
}

static void wire_inside(const struct wiring *wiring)
{
    int netlink = netlink_open();
    if (netlink < 0)
        die("hook: open netlink inside");
    unsigned loopback = index_of("lo"), link = index_of("eth0");
    set_interface_switch("ipv6", "eth0", "disable_ipv6", "1");
    if (link_up(netlink, loopback) || address_add(netlink, loopback, wiring->inner))
        die("hook: set up lo");
    if (address_add(netlink, link, wiring->address) || link_up(netlink, link)
        || route_add_host(netlink, link, wiring->gateway)
        || route_add_default(netlink, link, wiring->gateway, wiring->inner))
        die("hook: set up eth0");
    limit_bandwidth(wiring, netlink, link);
    close(netlink);
}

static int load_rules(const struct wiring *wiring, const char *rules, size_t length)
{
    int input[2];
    if (pipe2(input, O_CLOEXEC) || write(input[1], rules, length) != (ssize_t)length)
        die("hook: pipe");
    close(input[1]);
    pid_t child = fork();
    if (child < 0)
        die("hook: fork");
    if (child == 0) {
        dup2(input[0], 0);
        execl(wiring->nft, "nft", "-f", "-", (char *)NULL);
        die("hook: run %s", wiring->nft);
    }
    close(input[0]);
    int status;
    return waitpid(child, &status, 0) == child ? status : -1;
}

/* All sandboxes have the same address inside; outside each has its own. The translation is done in the sandbox's
 * namespace, where root inside lacks the capability to change it and the host needs no zones.
 *
 * Translated flows are tracked, in the host's memory and in a table of all namespaces: so flows within the sandbox are
 * not tracked, and the number of the others is limited. On kernels that cannot count, the host's rules limit them. */
static void translate_addresses(const struct wiring *wiring)
{
    static const char translate[] = "table ip cay {\n"
                                    " chain post {\n  type nat hook postrouting priority 100;\n"
                                    "  oifname \"eth0\" snat to %s\n }\n"
                                    " chain own_out {\n  type filter hook output priority -300;\n"
                                    "  oifname \"lo\" notrack\n }\n"
                                    " chain own_in {\n  type filter hook prerouting priority -300;\n"
                                    "  iifname \"lo\" notrack\n }\n}\n";
    static const char limit[] = "table ip cay {\n"
                                " chain opening {\n  type filter hook output priority 0;\n"
                                "  oifname \"eth0\" " FIRST_PACKET " limit rate over %lu/second burst %lu packets drop\n"
                                "  oifname \"eth0\" " FIRST_PACKET " ct count over %lu drop\n"
                                "  oifname \"eth0\" udp dport 53 limit rate over 500/second burst 500 packets drop\n"
                                " }\n}\n"
                                "table inet cay {\n"
                                " chain in {\n  type filter hook input priority 0;\n"
                                "  iifname \"lo\" tcp dport { %s } tcp flags & (syn | ack) == syn"
                                " limit rate over %d/second burst %d packets drop\n }\n}\n";
    char rules[2048];
    int length = snprintf(rules, sizeof rules, translate, wiring->address_text);
    int all = length
              + snprintf(rules + length, sizeof rules - (size_t)length, limit,
                         wiring->connections / SECONDS_TO_OPEN_ALL + 1, wiring->connections, wiring->connections,
                         wiring->node_ports, NODE_CONNECTIONS_PER_SECOND, NODE_CONNECTIONS_AT_ONCE);
    if (all >= (int)sizeof rules)
        refuse("hook: too many ports");
    if (!load_rules(wiring, rules, (size_t)all))
        return;
    int status = load_rules(wiring, rules, (size_t)length);
    if (status)
        refuse("hook: %s refused the sandbox's address translation (status %d)", wiring->nft, status);
}

static int write_switch(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = write(fd, value, strlen(value)) < 0 ? -1 : 0;
    close(fd);
    return result;
}

/* Shared memory, semaphores and messages belong to no process: killing processes would not free them, and in the end
 * the kernel would kill pid 1. Together with /dev/shm they leave a part of the memory that only processes can use. */
static int limit_ipc(const struct wiring *wiring)
{
    char pages[24];
    snprintf(pages, sizeof pages, "%lu", (wiring->memory << 20) / (unsigned long)sysconf(_SC_PAGESIZE) / 4);
    return write_switch("/proc/sys/kernel/shmall", pages) || write_switch("/proc/sys/kernel/sem", "32000 128000 500 1024")
           || write_switch("/proc/sys/kernel/msgmni", "256");
}

/* Limits of resources that one sandbox could otherwise take from the whole host. */
static void limit_user_namespace(const struct wiring *wiring, int namespace)
{
    if (setns(namespace, CLONE_NEWUSER))
        die("hook: enter the user namespace");
    char number[24];
    snprintf(number, sizeof number, "%lu", wiring->inotify);
    set_switch("/proc/sys/user/max_inotify_instances", number);
    snprintf(number, sizeof number, "%lu", wiring->inotify * WATCHES_PER_INSTANCE);
    set_switch("/proc/sys/user/max_inotify_watches", number);
    /* A second protection beside the system call filter. */
    set_switch("/proc/sys/user/max_user_namespaces", "0");
    /* Lets ping work without raw sockets, which are refused. Group ids are the sandbox's. */
    set_switch("/proc/sys/net/ipv4/ping_group_range", "0 65535");
}

/* Kernels differ in who may set these limits: the host's root, or the namespace's own. Where neither may, only the
 * memory limit applies. */
static void limit_namespaces(const struct wiring *wiring, int ipc, int user)
{
    if (setns(ipc, CLONE_NEWIPC))
        die("hook: enter the IPC namespace");
    int refused = limit_ipc(wiring);
    limit_user_namespace(wiring, user);
    if (refused && !seteuid(0))
        limit_ipc(wiring);
}

int run_hook(int argc, char **argv)
{
    struct wiring wiring = {0};
    parse(argc, argv, &wiring);
    int pid = read_pid();
    int network = open_namespace(pid, "net"), user = open_namespace(pid, "user"), ipc = open_namespace(pid, "ipc");
    wire_outside(&wiring, network);
    if (setns(network, CLONE_NEWNET))
        die("hook: enter the network namespace");
    wire_inside(&wiring);
    translate_addresses(&wiring);
    /* A new network namespace inherits the host's setting. Nothing is forwarded inside; without this file neither. */
    write_switch("/proc/sys/net/ipv4/ip_forward", "0");
    limit_namespaces(&wiring, ipc, user);
    return 0;
}

int run_unplug(int argc, char **argv)
{
    if (argc != 1)
        refuse("usage: cay-guest unplug NAME");
    int netlink = netlink_open();
    if (netlink < 0)
        die("unplug: open netlink");
    if (link_delete(netlink, argv[0]) && errno != ENODEV)
        die("unplug: remove %s", argv[0]);
    return 0;
}
