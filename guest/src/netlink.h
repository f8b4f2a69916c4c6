/* The few requests of rtnetlink that a sandbox's link needs. Each waits for the kernel's answer; 0 or -1 with errno. */
#ifndef CAY_NETLINK_H
#define CAY_NETLINK_H

#include <stdint.h>

int netlink_open(void);
int link_delete(int netlink, const char *name);
/* The peer is born as `peer_name` in the network namespace `peer_namespace`. */
int link_add_pair(int netlink, const char *name, unsigned mtu, const char *peer_name, int peer_namespace);
int link_up(int netlink, unsigned index);
/* Lets no more than so many bytes a second leave by the link; what comes faster waits, then is dropped. */
int link_limit(int netlink, unsigned index, uint64_t bytes_per_second);
/* All addresses in network order. */
int address_add(int netlink, unsigned index, uint32_t address);
/* To one host, without a gateway. */
int route_add_host(int netlink, unsigned index, uint32_t to);
int route_add_default(int netlink, unsigned index, uint32_t gateway, uint32_t source);

#endif
