package dev.cay.node.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The system calls a sandbox may not make, as runc wants to be told.
///
/// Everything else is allowed: sandboxes run whatever people bring. Refused is what reaches beyond the sandbox or into
/// rarely walked parts of the kernel, and what a checkpoint cannot save (io_uring).
final class SystemCalls {
    private static final int EPERM = 1;
    private static final int ENOSYS = 38;
    private static final long CLONE_NEWUSER = 0x1000_0000L;
    private static final int AF_ALG = 38;
    private static final int AF_VSOCK = 40;

    private static final List<String> REFUSED = List.of(
            ("acct add_key bpf clock_adjtime clock_adjtime64 clock_settime clock_settime64 create_module delete_module"
                            + " fanotify_init finit_module fsconfig fsmount fsopen fspick get_kernel_syms init_module"
                            + " io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load"
                            + " kexec_load keyctl lookup_dcookie mbind memfd_secret migrate_pages mount mount_setattr"
                            + " move_mount move_pages name_to_handle_at nfsservctl open_by_handle_at open_tree"
                            + " open_tree_attr perf_event_open pivot_root process_vm_readv process_vm_writev"
                            + " query_module quotactl quotactl_fd reboot request_key set_mempolicy"
                            + " set_mempolicy_home_node setns settimeofday stime swapoff swapon sysfs syslog _sysctl"
                            + " umount umount2 unshare uselib userfaultfd ustat vhangup vm86 vm86old")
                    .split(" "));

    private SystemCalls() {}

    static Map<String, Object> filter() {
        var rules = new ArrayList<Map<String, Object>>();
        rules.add(rule(REFUSED, EPERM));
        // Its flags lie in memory where a filter cannot look; callers fall back to clone.
        rules.add(rule(List.of("clone3"), ENOSYS));
        // All contexts of the host count against one number, and where that is high, one sandbox fills its memory with
        // rings that the kernel takes minutes to give back. Databases fall back to threads.
        rules.add(rule(List.of("io_setup"), ENOSYS));
        rules.add(argument("clone", CLONE_NEWUSER, "SCMP_CMP_MASKED_EQ", CLONE_NEWUSER));
        // The hypervisor of a host that is a virtual machine itself, and the kernel's ciphers.
        rules.add(argument("socket", AF_VSOCK, "SCMP_CMP_EQ", 0));
        rules.add(argument("socket", AF_ALG, "SCMP_CMP_EQ", 0));
        return Map.of("defaultAction", "SCMP_ACT_ALLOW", "architectures", architectures(), "syscalls", rules);
    }

    /// Also those of 32-bit programs: they would go round the filter.
    private static List<String> architectures() {
        String cpu = System.getProperty("os.arch");
        return switch (cpu) {
            case "amd64" -> List.of("SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32");
            case "aarch64" -> List.of("SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM");
            default -> throw new IllegalStateException("no system call filter for " + cpu);
        };
    }

    private static Map<String, Object> rule(List<String> names, int errno) {
        return Map.of("names", names, "action", "SCMP_ACT_ERRNO", "errnoRet", errno);
    }

    private static Map<String, Object> argument(String name, long value, String comparison, long second) {
        return Map.of(
                "names",
                List.of(name),
                "action",
                "SCMP_ACT_ERRNO",
                "errnoRet",
                EPERM,
                "args",
                List.of(Map.of("index", 0, "value", value, "valueTwo", second, "op", comparison)));
    }
}
