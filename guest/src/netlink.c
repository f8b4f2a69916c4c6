#include "cay.h"
#include "netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
    struct nlmsghdr header;
    char body[1024];
};

static void *extend(struct message *message, size_t length)
{
    size_t at = NLMSG_ALIGN(message->header.nlmsg_len);
    message->header.nlmsg_len = (uint32_t)(at + length);
    return (char *)message + at;
}

static void *start(struct message *message, uint16_t type, uint16_t flags, size_t length)
{
    memset(message, 0, sizeof *message);
    message->header.nlmsg_len = NLMSG_HDRLEN;
    message->header.nlmsg_type = type;
    message->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    return extend(message, length);
}

static struct rtattr *attribute(struct message *message, uint16_t type, const void *value, size_t length)
{
    struct rtattr *added = extend(message, RTA_LENGTH(length));
    added->rta_type = type;
    added->rta_len = (uint16_t)RTA_LENGTH(length);
    if (length)
        memcpy(RTA_DATA(added), value, length);
    return added;
}

static void end_nested(struct message *message, struct rtattr *outer)
{
    outer->rta_len = (uint16_t)((char *)message + message->header.nlmsg_len - (char *)outer);
}

static int ask(int netlink, struct message *message)
{
    if (send(netlink, message, message->header.nlmsg_len, 0) < 0)
        return -1;
    char room[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
    ssize_t length;
    do
        length = recv(netlink, room, sizeof room, 0);
    while (length < 0 && errno == EINTR);
    struct nlmsghdr *answer = (struct nlmsghdr *)room;
    if (length < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) || answer->nlmsg_type != NLMSG_ERROR) {
        errno = EPROTO;
        return -1;
    }
    int result = ((struct nlmsgerr *)NLMSG_DATA(answer))->error;
    errno = -result;
    return result ? -1 : 0;
}

int netlink_open(void)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

int link_delete(int netlink, const char *name)
{
    struct message message;
    struct ifinfomsg *info = start(&message, RTM_DELLINK, 0, sizeof *info);
    attribute(&message, IFLA_IFNAME, name, strlen(name) + 1);
    return ask(netlink, &message);
}

int link_add_pair(int netlink, const char *name, unsigned mtu, const char *peer_name, int peer_namespace)
{
    struct message message;
    struct ifinfomsg *info = start(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof *info);
    attribute(&message, IFLA_IFNAME, name, strlen(name) + 1);
    attribute(&message, IFLA_MTU, &mtu, sizeof mtu);
    struct rtattr *kind = attribute(&message, IFLA_LINKINFO, NULL, 0);
    attribute(&message, IFLA_INFO_KIND, "veth", 4);
    struct rtattr *data = attribute(&message, IFLA_INFO_DATA, NULL, 0);
    struct rtattr *peer = attribute(&message, VETH_INFO_PEER, NULL, 0);
    extend(&message, sizeof *info);
    attribute(&message, IFLA_IFNAME, peer_name, strlen(peer_name) + 1);
    attribute(&message, IFLA_MTU, &mtu, sizeof mtu);
    attribute(&message, IFLA_NET_NS_FD, &peer_namespace, sizeof peer_namespace);
    end_nested(&message, peer);
    end_nested(&message, data);
    end_nested(&message, kind);
    return ask(netlink, &message);
}

int link_up(int netlink, unsigned index)
{
    struct message message;
    struct ifinfomsg *info = start(&message, RTM_NEWLINK, 0, sizeof *info);
    info->ifi_index = (int)index;
    info->ifi_flags = info->ifi_change = 1; /* IFF_UP */
    return ask(netlink, &message);
}

int link_limit(int netlink, unsigned index, uint64_t bytes_per_second)
{
    /* A timer's tick of traffic at once, and never less than what segmentation offload hands over in one piece. */
    uint64_t tick = bytes_per_second / 100;
    uint32_t burst = tick < 131072 ? 131072 : (uint32_t)tick;
    struct tc_tbf_qopt options = {
        .rate = {.linklayer = TC_LINKLAYER_ETHERNET,
                 .rate = bytes_per_second > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes_per_second},
        .limit = burst * 4,
    };
    struct message message;
    struct tcmsg *info = start(&message, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, sizeof *info);
    info->tcm_ifindex = (int)index;
    info->tcm_parent = TC_H_ROOT;
    attribute(&message, TCA_KIND, "tbf", sizeof "tbf");
    struct rtattr *nested = attribute(&message, TCA_OPTIONS, NULL, 0);
    attribute(&message, TCA_TBF_PARMS, &options, sizeof options);
    attribute(&message, TCA_TBF_RATE64, &bytes_per_second, sizeof bytes_per_second);
    attribute(&message, TCA_TBF_BURST, &burst, sizeof burst);
    end_nested(&message, nested);
    return ask(netlink, &message);
}

int address_add(int netlink, unsigned index, uint32_t address)
{
    struct message message;
    struct ifaddrmsg *info = start(&message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, sizeof *info);
    info->ifa_family = AF_INET;
    info->ifa_prefixlen = 32;
    info->ifa_index = index;
    attribute(&message, IFA_LOCAL, &address, sizeof address);
    attribute(&message, IFA_ADDRESS, &address, sizeof address);
    return ask(netlink, &message);
}

static struct rtmsg *start_route(struct message *message, unsigned char prefix, unsigned char scope)
{
    struct rtmsg *route = start(message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, sizeof *route);
    route->rtm_family = AF_INET;
    route->rtm_dst_len = prefix;
    route->rtm_table = RT_TABLE_MAIN;
    route->rtm_protocol = RTPROT_STATIC;
    route->rtm_scope = scope;
    route->rtm_type = RTN_UNICAST;
    return route;
}

int route_add_host(int netlink, unsigned index, uint32_t to)
{
    struct message message;
    start_route(&message, 32, RT_SCOPE_LINK);
    attribute(&message, RTA_DST, &to, sizeof to);
    attribute(&message, RTA_OIF, &index, sizeof index);
    return ask(netlink, &message);
}

int route_add_default(int netlink, unsigned index, uint32_t gateway, uint32_t source)
{
    struct message message;
    start_route(&message, 0, RT_SCOPE_UNIVERSE);
    attribute(&message, RTA_GATEWAY, &gateway, sizeof gateway);
    attribute(&message, RTA_OIF, &index, sizeof index);
    attribute(&message, RTA_PREFSRC, &source, sizeof source);
    return ask(netlink, &message);
}
