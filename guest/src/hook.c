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

/* Watches are cheap beside instances; an editor or a bundler wants many per instance. */
#define WATCHES_PER_INSTANCE 1024

struct wiring {
    const char *veth, *address_text, *nft;
    uint32_t address, gateway, inner;
    unsigned mtu;
    unsigned long inotify;
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
        else
            refuse("hook: unknown argument %s", name);
    }
    if (argc % 2 || !wiring->veth || !wiring->address || !wiring->gateway || !wiring->inner || !wiring->mtu
        || !wiring->nft || !wiring->inotify)
        refuse("usage: cay-guest hook --veth NAME --address A --gateway G --inner I --mtu N --nft PATH --inotify N");
}

/* The runtime's state comes on stdin; of it we need the one number. Our ids contain no quotes, so the first "pid" is
 * the key. */
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

/* Absent files are fine: not every kernel has every switch. */
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

static void wire_outside(const struct wiring *wiring, int namespace)
{
    int netlink = netlink_open();
    if (netlink < 0)
        die("hook: open netlink");
    /* Namespaces go away some time after their processes; a link of this name may be one that is still going. */
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
    close(netlink);
}

/* Inside all sandboxes have the same address; outside each has its own. The translation is done in here, where the
 * sandbox lacks the capability to change it and the host needs no zones. */
static void translate_addresses(const struct wiring *wiring)
{
    char rules[256];
    int length = snprintf(rules, sizeof rules,
                          "table ip cay {\n chain post {\n  type nat hook postrouting priority 100;\n"
                          "  oifname \"eth0\" snat to %s\n }\n}\n",
                          wiring->address_text);
    int input[2];
    if (pipe2(input, O_CLOEXEC) || write(input[1], rules, (size_t)length) != length)
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
    if (waitpid(child, &status, 0) != child || status)
        refuse("hook: %s refused the sandbox's address translation (status %d)", wiring->nft, status);
}

/* What one sandbox could otherwise take from the whole host. */
static void limit_user_namespace(const struct wiring *wiring, int namespace)
{
    if (setns(namespace, CLONE_NEWUSER))
        die("hook: enter the user namespace");
    char number[24];
    snprintf(number, sizeof number, "%lu", wiring->inotify);
    set_switch("/proc/sys/user/max_inotify_instances", number);
    snprintf(number, sizeof number, "%lu", wiring->inotify * WATCHES_PER_INSTANCE);
    set_switch("/proc/sys/user/max_inotify_watches", number);
    /* Second line behind the system call filter. */
    set_switch("/proc/sys/user/max_user_namespaces", "0");
    /* So that ping works without raw sockets, which nobody gets. In the group ids of the sandbox. */
    set_switch("/proc/sys/net/ipv4/ping_group_range", "0 65535");
}

int run_hook(int argc, char **argv)
{
    struct wiring wiring = {0};
    parse(argc, argv, &wiring);
    int pid = read_pid();
    int network = open_namespace(pid, "net"), user = open_namespace(pid, "user");
    wire_outside(&wiring, network);
    if (setns(network, CLONE_NEWNET))
        die("hook: enter the network namespace");
    wire_inside(&wiring);
    translate_addresses(&wiring);
    limit_user_namespace(&wiring, user);
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
