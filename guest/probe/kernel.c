/* Attempts at the levers of the kernel, by system calls. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/personality.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/* The same on every CPU; the C library of older distributions lacks some. */
#define NR_io_uring_setup 425
#define NR_open_tree_attr 467
#define FIRST_YOUNG_CALL 463
#define LAST_YOUNG_CALL 511

static int is_refusal(int reason)
{
    return reason == EPERM || reason == EACCES || reason == EROFS || reason == ENOSYS;
}

static void keyring_add(void)
{
    judge("add_key", syscall(SYS_add_key, "user", "cay-probe", "x", 1, -2));
}

static void keyring_control(void)
{
    judge("keyctl", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
}

static void keyring_request(void)
{
    judge("request_key", syscall(SYS_request_key, "user", "cay-probe", NULL, 0));
}

static void load_bpf(void)
{
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    judge_strictly("bpf map", syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map));
}

static void make_io_uring(void)
{
    char parameters[120] = {0};
    judge_strictly("io_uring_setup", syscall(NR_io_uring_setup, 1, parameters));
}

static void handle_faults(void)
{
    judge_strictly("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | 1));
}

static void count_events(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
    judge_strictly("perf_event_open", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

static void load_kernel(void)
{
    judge("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0xffffl));
}

static void load_kernel_file(void)
{
#ifdef SYS_kexec_file_load
    judge("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0xffffl));
#else
    refused("not in this kernel");
#endif
}

static void load_module(void)
{
    judge("init_module", syscall(SYS_init_module, "", 0, ""));
}

static void load_module_file(void)
{
    judge("finit_module", syscall(SYS_finit_module, -1, "", 0));
}

static void unload_module(void)
{
    judge("delete_module", syscall(SYS_delete_module, "cay_probe_none", O_NONBLOCK));
}

static void name_handle(void)
{
    struct {
        struct file_handle head;
        char room[128];
    } handle = {.head.handle_bytes = 128};
    int mount_id;
    judge("name_to_handle_at", name_to_handle_at(AT_FDCWD, "/proc", &handle.head, &mount_id, 0));
}

static void open_handle(void)
{
    struct {
        struct file_handle head;
        char room[8];
    } handle = {.head = {.handle_bytes = 8, .handle_type = 1}, .room = {2}};
    int root = open("/", O_RDONLY | O_DIRECTORY);
    judge("open_by_handle_at", open_by_handle_at(root, &handle.head, O_RDONLY));
}

static void set_personality(void)
{
    judge("personality", personality(READ_IMPLIES_EXEC | ADDR_COMPAT_LAYOUT));
}

static void adjust_clock(void)
{
    struct timex change = {.modes = ADJ_TICK, .tick = 1};
    judge("clock_adjtime", clock_adjtime(CLOCK_REALTIME, &change));
}

static void set_clock(void)
{
    struct timespec never = {0, 2000000000};
    judge("clock_settime", syscall(SYS_clock_settime, CLOCK_REALTIME, &never));
}

static void set_hostname(void)
{
    char name[65] = "";
    gethostname(name, sizeof name - 1);
    judge_strictly("sethostname", sethostname(name, strlen(name)));
}

static void read_kernel_log(void)
{
    char text[256];
    judge_strictly("syslog", klogctl(3, text, sizeof text));
}

static void add_swap(void)
{
    judge("swapon", swapon("/cay-probe-none", 0));
}

static void set_quota(void)
{
    judge("quotactl", quotactl(QCMD(Q_GETINFO, USRQUOTA), "/cay-probe-none", 0, NULL));
}

static void restart_machine(void)
{
    judge("reboot", reboot(RB_ENABLE_CAD));
}

static void account(void)
{
    judge("acct", acct("/cay-probe-none"));
}

static void watch_file_system(void)
{
    judge_strictly("fanotify_init", syscall(SYS_fanotify_init, 4, O_RDONLY));
}

static void port_access(void)
{
#ifdef SYS_iopl
    judge_strictly("iopl", syscall(SYS_iopl, 0));
#else
    refused("iopl: not in this kernel");
#endif
}

/* Young calls that no filter of today knows by name. With arguments that no call accepts. */
static void young_calls(void)
{
    for (long number = FIRST_YOUNG_CALL; number <= LAST_YOUNG_CALL; number++) {
        long result = syscall(number, -1l, -1l, -1l, -1l, -1l, -1l);
        if (result >= 0 || !is_refusal(errno))
            succeeded("system call %ld was permitted", number);
    }
    refused("numbers %d to %d: %s", FIRST_YOUNG_CALL, LAST_YOUNG_CALL, strerror(errno));
}

static void copy_tree_with_attributes(void)
{
    judge("open_tree_attr", syscall(NR_open_tree_attr, AT_FDCWD, "/", 1u, -1l, -1l));
}

/* --- the same by the other doors of x86-64 --- */

static void thirty_two_bit_call(void)
{
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(310), "b"(CLONE_NEWUSER) : "memory", "r8", "r9", "r10", "r11");
    errno = result < 0 ? (int)-result : 0;
    judge_strictly("unshare user namespace by int 0x80", result);
#else
    refused("not in this kernel: another CPU");
#endif
}

static void thirty_two_bit_socket(void)
{
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(359), "b"(16), "c"(3), "d"(12)
                     : "memory", "r8", "r9", "r10", "r11");
    errno = result < 0 ? (int)-result : 0;
    judge_strictly("netfilter socket by int 0x80", result);
#else
    refused("not in this kernel: another CPU");
#endif
}

static void x32_call(void)
{
#ifdef __x86_64__
    judge_strictly("unshare user namespace by x32", syscall(0x40000000l | SYS_unshare, CLONE_NEWUSER));
#else
    refused("not in this kernel: another CPU");
#endif
}

const struct probe kernel_probes[] = {
    {"keyring-add", keyring_add},
    {"keyring-control", keyring_control},
    {"keyring-request", keyring_request},
    {"bpf", load_bpf},
    {"io-uring", make_io_uring},
    {"userfaultfd", handle_faults},
    {"perf-events", count_events},
    {"kexec", load_kernel},
    {"kexec-file", load_kernel_file},
    {"module-load", load_module},
    {"module-load-file", load_module_file},
    {"module-unload", unload_module},
    {"handle-name", name_handle},
    {"handle-open", open_handle},
    {"personality", set_personality},
    {"clock-adjust", adjust_clock},
    {"clock-set", set_clock},
    {"hostname", set_hostname},
    {"kernel-log", read_kernel_log},
    {"swap", add_swap},
    {"quota", set_quota},
    {"reboot", restart_machine},
    {"accounting", account},
    {"fanotify", watch_file_system},
    {"io-ports", port_access},
    {"young-calls", young_calls},
    {"open-tree-attr", copy_tree_with_attributes},
    {"int80-unshare", thirty_two_bit_call},
    {"int80-socket", thirty_two_bit_socket},
    {"x32-unshare", x32_call},
    {0},
};
