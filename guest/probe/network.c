/* Attempts by the network. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 1500
#define NETLINK_NETFILTER_ 12

/* --- kinds of sockets --- */

static void judge_socket(const char *what, int family, int type, int protocol)
{
    judge_strictly(what, socket(family, type | SOCK_CLOEXEC, protocol));
}

static void raw_socket(void)
{
    judge_socket("raw socket", AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static void packet_socket(void)
{
    judge_socket("packet socket", AF_PACKET, SOCK_RAW, 0);
}

static void vsock_socket(void)
{
    judge_socket("vsock", AF_VSOCK, SOCK_STREAM, 0);
}

static void cipher_socket(void)
{
    judge_socket("AF_ALG", AF_ALG, SOCK_SEQPACKET, 0);
}

static void netfilter_socket(void)
{
    judge_socket("netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER_);
}

/* Each family is code of the kernel that hardly anybody needs; many a hole was in one of them. */
static void odd_families(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
    for (int family = 0; family < 64; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK)
            continue;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (socket(family, types[i] | SOCK_CLOEXEC, 0) >= 0)
                succeeded("socket of family %d", family);
    }
    for (int protocol = 1; protocol < 24; protocol++)
        if (socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol) >= 0)
            succeeded("netlink socket of protocol %d", protocol);
    refused("only unix, IP and route netlink");
}

/* --- options of sockets --- */

/* With bits that the kernel does not look at, too: a filter that compares whole registers would let them through. The
 * kernel takes a filter that chooses among sockets only where the address can be shared. */
static void judge_option(const char *what, long level, long option, const void *value, unsigned long length)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        unclear("socket: %s", strerror(errno));
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int)))
        unclear("SO_REUSEPORT: %s", strerror(errno));
    if (!setsockopt(fd, (int)level, (int)option, value, (socklen_t)length))
        succeeded("%s worked", what);
    int reason = errno;
    for (int i = 1; i < 4; i++)
        if (!syscall(SYS_setsockopt, fd, level | (i & 1L) << 32, option | (i & 2L) << 40, value, length))
            succeeded("%s worked with other bits", what);
    refused("%s: %s", what, strerror(reason));
}

static void socket_filter(void)
{
    struct sock_filter accept_all = BPF_STMT(BPF_RET | BPF_K, 0xffff);
    struct sock_fprog program = {.len = 1, .filter = &accept_all};
    judge_option("SO_ATTACH_FILTER", SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static void reuseport_filter(void)
{
    struct sock_filter first = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog program = {.len = 1, .filter = &first};
    judge_option("SO_ATTACH_REUSEPORT_CBPF", SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program);
}

static void socket_mark(void)
{
    int mark = 1;
    judge_option("SO_MARK", SOL_SOCKET, SO_MARK, &mark, sizeof mark);
}

static void transparent_socket(void)
{
    int on = 1;
    judge_option("IP_TRANSPARENT", IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on);
}

static void change_interface(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo"};
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request))
        unclear("lo: %s", strerror(errno));
    judge_strictly("changing an interface", ioctl(fd, SIOCSIFFLAGS, &request));
}

/* --- reaching others --- */

static int finish(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int reason = 0;
    socklen_t length = sizeof reason;
    if (poll(&wait, 1, PATIENCE_MS) == 0)
        errno = ETIMEDOUT;
    else if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &length) && !reason)
        return 1;
    else
        errno = reason;
    return 0;
}

/* ADDRESS:PORT, the last colon counts. */
static int reaches(const char *target)
{
    char text[128];
    snprintf(text, sizeof text, "%s", target);
    char *colon = strrchr(text, ':');
    if (!colon)
        unclear("not an address with a port: %s", target);
    *colon = 0;
    in_port_t port = htons((unsigned short)atoi(colon + 1));
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = port};
    int is_six = inet_pton(AF_INET6, text, &six.sin6_addr) == 1;
    if (!is_six && inet_pton(AF_INET, text, &four.sin_addr) != 1)
        unclear("not an address: %s", text);
    int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    const struct sockaddr *address = is_six ? (void *)&six : (void *)&four;
    int got = !connect(fd, address, is_six ? sizeof six : sizeof four) || (errno == EINPROGRESS && finish(fd));
    int reason = errno;
    close(fd);
    errno = reason;
    return got;
}

static void reach_any(const char *fact, const char *standard)
{
    char list[1024];
    snprintf(list, sizeof list, "%s%s%s", standard, *standard && *known(fact) ? "," : "", known(fact));
    if (!*list)
        unclear("no %s=", fact);
    char reasons[300] = "", *rest;
    for (char *target = strtok_r(list, ",", &rest); target; target = strtok_r(NULL, ",", &rest)) {
        if (reaches(target))
            succeeded("%s was reached", target);
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used ? ", " : "", target, strerror(errno));
    }
    refused("%s", reasons);
}

static void reach_host(void)
{
    reach_any("host", "");
}

static void reach_sandbox(void)
{
    reach_any("sandbox", "");
}

static void reach_private(void)
{
    reach_any("private", "");
}

static void reach_metadata(void)
{
    reach_any("metadata", "169.254.169.254:80,100.100.100.200:80");
}

static void reach_metadata6(void)
{
    reach_any("metadata6", "fd00:ec2::254:80");
}

static void reach_ipv6(void)
{
    reach_any("six", "2001:4860:4860::8888:53");
}

/* Asks the gateway for a name whose owner answers with a private address, and goes there. */
static void rebind_name(void)
{
    if (!*known("resolver") || !*known("name") || !*known("port"))
        unclear("no resolver=, name= or port=");
    unsigned char query[300] = {0x12, 0x34, 1, 0, 0, 1}, answer[512];
    size_t at = 12;
    char name[200], *rest;
    snprintf(name, sizeof name, "%s", known("name"));
    for (char *label = strtok_r(name, ".", &rest); label; label = strtok_r(NULL, ".", &rest)) {
        query[at++] = (unsigned char)strlen(label);
        memcpy(query + at, label, strlen(label));
        at += strlen(label);
    }
    static const unsigned char address_of_class_internet[] = {0, 0, 1, 0, 1};
    memcpy(query + at, address_of_class_internet, sizeof address_of_class_internet);
    at += sizeof address_of_class_internet;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {2, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    struct sockaddr_in resolver = {.sin_family = AF_INET, .sin_port = htons(53)};
    inet_pton(AF_INET, known("resolver"), &resolver.sin_addr);
    ssize_t length = -1;
    if (!connect(fd, (struct sockaddr *)&resolver, sizeof resolver) && send(fd, query, at, 0) > 0)
        length = recv(fd, answer, sizeof answer, 0);
    if (length < 16)
        unclear("no answer from the resolver: %s", strerror(errno));
    char target[64];
    snprintf(target, sizeof target, "%d.%d.%d.%d:%s", answer[length - 4], answer[length - 3], answer[length - 2],
             answer[length - 1], known("port"));
    if (reaches(target))
        succeeded("%s means %s, which was reached", known("name"), target);
    refused("%s means %s: %s", known("name"), target, strerror(errno));
}

static void host_abstract_socket(void)
{
    if (!*known("abstract"))
        unclear("no abstract=");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(known("abstract"));
    memcpy(address.sun_path + 1, known("abstract"), length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    judge_strictly("connect to the host's abstract socket",
                   connect(fd, (struct sockaddr *)&address,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)));
}

/* --- forged packets --- */

static unsigned short checksum(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    unsigned sum = 0;
    for (size_t i = 0; i + 1 < length; i += 2)
        sum += (unsigned)(bytes[i] << 8 | bytes[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((unsigned short)~sum);
}

static int hardware_address(const char *gateway, unsigned char *into)
{
    int knock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(9)};
    inet_pton(AF_INET, gateway, &there.sin_addr);
    sendto(knock, "", 0, 0, (struct sockaddr *)&there, sizeof there);
    for (int tries = 0; tries < 50; tries++) {
        FILE *table = fopen("/proc/net/arp", "re");
        char line[256], address[32], hardware[32];
        while (table && fgets(line, sizeof line, table))
            if (sscanf(line, "%31s %*s %*s %31s", address, hardware) == 2 && !strcmp(address, gateway)
                && strcmp(hardware, "00:00:00:00:00:00")
                && sscanf(hardware, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", into, into + 1, into + 2, into + 3, into + 4,
                          into + 5) == 6) {
                fclose(table);
                return 1;
            }
        if (table)
            fclose(table);
        usleep(20000);
    }
    return 0;
}

/* forged=SOURCE:TARGET:PORT:GATEWAY. Says only that it was sent; whether it arrived is for the target to say. */
static void forge_source(void)
{
    char source[32], target[32], gateway[32];
    unsigned port;
    if (sscanf(known("forged"), "%31[0-9.]:%31[0-9.]:%u:%31[0-9.]", source, target, &port, gateway) != 4)
        unclear("no forged=");
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
    if (fd < 0)
        refused("packet socket: %s", strerror(errno));
    struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
                               .sll_ifindex = (int)if_nametoindex("eth0"), .sll_halen = 6};
    if (!hardware_address(gateway, link.sll_addr))
        unclear("the gateway has no hardware address");
    struct {
        struct iphdr ip;
        struct udphdr udp;
        char text[6];
    } packet = {.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP, .tot_len = htons(34)},
                .udp = {.source = htons(4000), .dest = htons((unsigned short)port), .len = htons(14)},
                .text = "forged"};
    inet_pton(AF_INET, source, &packet.ip.saddr);
    inet_pton(AF_INET, target, &packet.ip.daddr);
    packet.ip.check = checksum(&packet.ip, sizeof packet.ip);
    judge_strictly("sending a packet with a forged source",
                   sendto(fd, &packet, 34, 0, (struct sockaddr *)&link, sizeof link));
}

const struct probe network_probes[] = {
    {"raw-socket", raw_socket},
    {"packet-socket", packet_socket},
    {"vsock", vsock_socket},
    {"kernel-ciphers", cipher_socket},
    {"netfilter", netfilter_socket},
    {"odd-families", odd_families},
    {"socket-filter", socket_filter},
    {"reuseport-filter", reuseport_filter},
    {"socket-mark", socket_mark},
    {"transparent-socket", transparent_socket},
    {"interface", change_interface},
    {"reach-host", reach_host},
    {"reach-sandbox", reach_sandbox},
    {"reach-private", reach_private},
    {"reach-metadata", reach_metadata},
    {"reach-metadata6", reach_metadata6},
    {"reach-ipv6", reach_ipv6},
    {"rebound-name", rebind_name},
    {"host-abstract", host_abstract_socket},
    {"forged-source", forge_source},
    {0},
};
