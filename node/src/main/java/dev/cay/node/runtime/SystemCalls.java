package dev.cay.node.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The seccomp filter of a sandbox, in runc's form.
///
/// It is an allow list: a call of a newer kernel that is not listed does not exist inside, and programs handle that.
/// Left out are calls that reach beyond the sandbox or into rarely used parts of the kernel, and calls that a
/// checkpoint cannot save (io_uring). Only native calls are allowed: a process that makes 32-bit or x32 calls is
/// killed, because these entries bypass conditions on arguments and are the kernel's least watched.
final class SystemCalls {
    private static final int EPERM = 1;
    private static final int ENOSYS = 38;
    private static final int EPROTONOSUPPORT = 93;
    private static final int EAFNOSUPPORT = 97;
    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int AF_NETLINK = 16;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_TYPE = 0xf;
    private static final int NETLINK_ROUTE = 0;
    private static final long INT = 0xffff_ffffL;
    private static final long SHORT = 0xffffL;
    private static final String EQUAL = "SCMP_CMP_EQ";
    private static final String GREATER = "SCMP_CMP_GT";
    private static final String MASKED = "SCMP_CMP_MASKED_EQ";

    /// Mount, cgroup, uts, ipc, user, pid and network.
    private static final List<Long> NAMESPACES =
            List.of(0x2_0000L, 0x200_0000L, 0x400_0000L, 0x800_0000L, 0x1000_0000L, 0x2000_0000L, 0x4000_0000L);

    /// Allowed personalities: none, the old ones that only change the release or a time, those of debuggers, and the
    /// query.
    private static final List<Long> PERSONALITIES = List.of(0L, 8L, 0x2_0000L, 0x2_0008L, 0x4_0000L, 0xffff_ffffL);

    /// Not `io_setup`: all contexts of the host count against one limit, and where that is high, one sandbox fills its
    /// memory with rings that the kernel takes minutes to free. Databases fall back to threads.
    private static final List<String> ALLOWED = List.of("""
            accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown chroot
            clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3
            epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old
            eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod
            fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr
            fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake futimesat get_mempolicy
            get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername
            getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid
            getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1
            inotify_rm_watch ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link
            linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack membarrier
            memfd_create mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify
            mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock
            munlockall munmap nanosleep newfstatat open openat openat2 pause pidfd_getfd pidfd_open pidfd_send_signal
            pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64
            process_madvise process_mrelease pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink
            readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr rename renameat renameat2
            restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
            rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
            sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
            sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop
            sendfile sendmmsg sendmsg sendto set_robust_list set_tid_address setfsgid setfsuid setgid setgroups
            setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setuid
            setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair splice stat statfs
            statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete
            timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill
            truncate umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev
            """.strip().split("\\s+"));

    /// Known calls that are refused with another error than missing ones, because programs then report better what they
    /// lack.
    private static final List<String> REFUSED = List.of("""
            acct add_key bpf clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount
            fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
            kexec_load keyctl lookup_dcookie mbind memfd_secret migrate_pages mount mount_setattr move_mount move_pages
            name_to_handle_at open_by_handle_at open_tree perf_event_open pivot_root process_vm_readv process_vm_writev
            quotactl quotactl_fd reboot request_key set_mempolicy setdomainname sethostname setns settimeofday swapoff
            swapon syslog umount2 unshare userfaultfd vhangup
            """.strip().split("\\s+"));

    /// A condition on one argument of a call.
    private record Condition(int index, String comparison, long value, long second) {
        Map<String, Object> json() {
            return Map.of("index", index, "op", comparison, "value", value, "valueTwo", second);
        }
    }

    /// Socket options that are refused, by level. The kernel keeps socket filters (26, 50, 51 and 52 of SOL_SOCKET)
    /// in memory that is charged to nobody. CAP_NET_RAW allows SO_MARK, IP_TRANSPARENT and IPV6_TRANSPARENT, so
    /// marks and foreign source addresses. The capability itself stays, because `ping` needs it.
    private static final Map<Integer, Set<Integer>> REFUSED_OPTIONS =
            new TreeMap<>(Map.of(0, Set.of(19), 1, Set.of(26, 36, 50, 51, 52), 41, Set.of(75)));

    /// Device requests of btrfs that are refused, by type and number: they make, copy, change and delete subvolumes. A
    /// subvolume that a sandbox makes in a volume is outside of the volume's limit, and keeps the volume from being
    /// deleted. Btrfs has them for every owner of a directory. Their sizes, in the other bits, do not count.
    private static final Set<Integer> SUBVOLUMES =
            Set.of(0x9401, 0x940e, 0x940f, 0x9417, 0x9418, 0x941a, 0x9425, 0x943f);

    private final List<Map<String, Object>> rules = new ArrayList<>();

    private SystemCalls() {}

    static Map<String, Object> filter() {
        var calls = new SystemCalls();
        calls.rules.add(Map.of("names", ALLOWED, "action", "SCMP_ACT_ALLOW"));
        calls.rules.add(Map.of("names", REFUSED, "action", "SCMP_ACT_ERRNO", "errnoRet", EPERM));
        calls.addProcesses();
        calls.addSockets();
        calls.addSocketOptions();
        calls.addDeviceRequests();
        return Map.of(
                "defaultAction",
                "SCMP_ACT_ERRNO",
                "defaultErrnoRet",
                ENOSYS,
                "architectures",
                List.of(architecture()),
                "syscalls",
                List.copyOf(calls.rules));
    }

    /// Adds calls about processes. `clone3` does not exist inside: its flags are in memory, which a filter cannot read;
    /// callers fall back to `clone`.
    private void addProcesses() {
        long any = NAMESPACES.stream().mapToLong(flag -> flag).reduce(0, (a, b) -> a | b);
        allow("clone", new Condition(0, MASKED, any, 0));
        NAMESPACES.forEach(flag -> refuse(EPERM, "clone", new Condition(0, MASKED, flag, flag)));
        PERSONALITIES.forEach(kind -> allow("personality", new Condition(0, EQUAL, kind, 0)));
    }

    /// Unix, TCP, UDP, ping and the list of interfaces. Not: raw and packet sockets, by which a sandbox could forge
    /// addresses; the hypervisor of a host that is a virtual machine itself; the many families and
    /// netlink protocols that few use and that had holes.
    private void addSockets() {
        allow("socket", family(AF_UNIX));
        allow("socket", family(AF_NETLINK), new Condition(2, EQUAL, NETLINK_ROUTE, 0));
        refuse(EPROTONOSUPPORT, "socket", family(AF_NETLINK), new Condition(2, GREATER, NETLINK_ROUTE, 0));
        for (int family : List.of(AF_INET, AF_INET6)) {
            addInternet(family, SOCK_STREAM, List.of(0, 6));
            addInternet(family, SOCK_DGRAM, List.of(0, 1, 17, 58));
            refuse(EPERM, "socket", family(family), type(SOCK_RAW));
        }
        for (int family = 0; family < AF_NETLINK; family++) {
            if (family != AF_UNIX && family != AF_INET && family != AF_INET6) {
                refuse(EAFNOSUPPORT, "socket", family(family));
            }
        }
        refuse(EAFNOSUPPORT, "socket", new Condition(0, GREATER, AF_NETLINK, 0));
    }

    private void addInternet(int family, int type, List<Integer> protocols) {
        protocols.forEach(
                protocol -> allow("socket", family(family), type(type), new Condition(2, EQUAL, protocol, 0)));
        refuse(
                EPROTONOSUPPORT,
                "socket",
                family(family),
                type(type),
                new Condition(2, GREATER, protocols.getLast(), 0));
    }

    private void addSocketOptions() {
        others(1, REFUSED_OPTIONS.keySet()).forEach(level -> allow("setsockopt", level));
        REFUSED_OPTIONS.forEach((level, options) -> {
            others(2, options).forEach(option -> allow("setsockopt", same(1, level), option));
            options.forEach(option -> refuse(EPERM, "setsockopt", same(1, level), same(2, option)));
        });
    }

    private void addDeviceRequests() {
        others(1, SUBVOLUMES, Short.SIZE).forEach(request -> allow("ioctl", request));
        SUBVOLUMES.forEach(request -> refuse(EPERM, "ioctl", new Condition(1, MASKED, SHORT, request)));
    }

    /// The kernel reads an `int`: what else is in the register does not count.
    private static Condition same(int index, int value) {
        return new Condition(index, MASKED, INT, value);
    }

    private static List<Condition> others(int index, Set<Integer> values) {
        return others(index, values, Integer.SIZE);
    }

    /// Conditions that together match every number but these, of so many bits: blocks of numbers with a common
    /// prefix that contain none of them. Rules of one call must not contradict each other, so "all but" has to be
    /// expressed this way.
    private static List<Condition> others(int index, Set<Integer> values, int bits) {
        var blocks = new ArrayList<Condition>();
        for (int value : new TreeSet<>(values)) {
            for (int bit = 0; bit < bits; bit++) {
                long mask = (1L << bits) - 1 & -1L << bit;
                long block = (value ^ 1L << bit) & mask;
                var found = new Condition(index, MASKED, mask, block);
                if (values.stream().noneMatch(other -> (other & mask) == block) && !blocks.contains(found)) {
                    blocks.add(found);
                }
            }
        }
        return blocks;
    }

    private static Condition family(int family) {
        return new Condition(0, EQUAL, family, 0);
    }

    private static Condition type(int type) {
        return new Condition(1, MASKED, SOCK_TYPE, type);
    }

    private void allow(String name, Condition... conditions) {
        rules.add(Map.of("names", List.of(name), "action", "SCMP_ACT_ALLOW", "args", json(conditions)));
    }

    private void refuse(int errno, String name, Condition... conditions) {
        rules.add(Map.of(
                "names", List.of(name), "action", "SCMP_ACT_ERRNO", "errnoRet", errno, "args", json(conditions)));
    }

    private static List<Map<String, Object>> json(Condition... conditions) {
        return List.of(conditions).stream().map(Condition::json).toList();
    }

    private static String architecture() {
        String cpu = System.getProperty("os.arch");
        return switch (cpu) {
            case "amd64" -> "SCMP_ARCH_X86_64";
            case "aarch64" -> "SCMP_ARCH_AARCH64";
            default -> throw new IllegalStateException("no system call filter for " + cpu);
        };
    }
}
