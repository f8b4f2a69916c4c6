/* Mounts a sandbox's root file system in a mount namespace of its own and runs a program there.
 *
 * The namespace goes when the program and its containers do, so the host's mount table never grows; and no thread of
 * the daemon ever changes its own. */
#include "cay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers of system calls, which the C library of older distributions lacks. The same on every CPU. */
#define NR_open_tree 428
#define NR_move_mount 429
#define NR_fsopen 430
#define NR_fsconfig 431
#define NR_fsmount 432
#define NR_mount_setattr 442
#define CLONE_TREE 1u
#define EMPTY_PATH_OF_SOURCE 4u
#define SET_FLAG 0u
#define SET_STRING 1u
#define CREATE 6u
#define ATTRIBUTE_READ_ONLY 0x1u
#define ATTRIBUTE_NO_SETUID 0x2u
#define ATTRIBUTE_NO_DEVICES 0x4u
#define ATTRIBUTE_IDMAP 0x00100000u

/* fsconfig takes strings of at most 255 bytes; "0:1:2:...:79" is 229. */
#define MAX_LAYERS 80
#define MAX_MOUNTS 32
#define IDS 65536ul

struct attributes {
    uint64_t set, clear, propagation, userns;
};

struct plan {
    unsigned long base;
    const char *lowers[MAX_LAYERS];
    int lower_count;
    const char *upper, *merged;
    const char *mounts[MAX_MOUNTS], *places[MAX_MOUNTS], *targets[MAX_MOUNTS], *rights[MAX_MOUNTS];
    int mount_count, place_count, target_count, right_count;
    char **program;
};

static void parse(int argc, char **argv, struct plan *plan)
{
    int i = 0, based = 0;
    for (; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "--uid-base")) {
            plan->base = parse_number(value, name);
            based = 1;
        } else if (!strcmp(name, "--upper"))
            plan->upper = value;
        else if (!strcmp(name, "--merged"))
            plan->merged = value;
        else if (!strcmp(name, "--lower") && plan->lower_count < MAX_LAYERS)
            plan->lowers[plan->lower_count++] = value;
        else if (!strcmp(name, "--mount") && plan->mount_count < MAX_MOUNTS)
            plan->mounts[plan->mount_count++] = value;
        else if (!strcmp(name, "--place") && plan->place_count < MAX_MOUNTS)
            plan->places[plan->place_count++] = value;
        else if (!strcmp(name, "--target") && plan->target_count < MAX_MOUNTS)
            plan->targets[plan->target_count++] = value;
        else if (!strcmp(name, "--rights") && plan->right_count < MAX_MOUNTS)
            plan->rights[plan->right_count++] = value;
        else if (!strcmp(name, "--lower"))
            refuse("launch: more than %d layers", MAX_LAYERS);
        else
            refuse("launch: unknown argument %s", name);
    }
    if (i + 1 >= argc || !based || !plan->upper || !plan->merged || !plan->lower_count ||
        plan->mount_count != plan->place_count || plan->mount_count != plan->target_count ||
        plan->mount_count != plan->right_count)
        refuse("usage: cay-guest launch --uid-base N --lower DIR... --upper DIR "
               "[--mount DIR --place DIR --target PATH --rights ro|rw]... "
               "--merged DIR -- PROGRAM ARGUMENTS...");
    plan->program = argv + i + 1;
}

static void write_map(pid_t pid, const char *name, unsigned long base)
{
    char path[64], map[96];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    /* The second line is for host root: without it overlayfs could not make its work directory and would mount
     * read-only in silence, and CRIU could not make its own in the root. */
    int length = snprintf(map, sizeof map, "0 %lu %lu\n%lu 0 1\n", base, IDS, IDS);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, map, (size_t)length) != length)
        die("launch: write %s", path);
    close(fd);
}

/* A user namespace that is only used for its id mapping. */
static int open_id_mapping(unsigned long base)
{
    pid_t child = (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_NEWUSER | SIGCHLD), 0ul, 0ul, 0ul, 0ul);
    if (child < 0)
        die("launch: make a user namespace");
    if (child == 0)
        while (1)
            pause();
    write_map(child, "uid_map", base);
    write_map(child, "gid_map", base);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int reason = errno;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    errno = reason;
    if (fd < 0)
        die("launch: open %s", path);
    return fd;
}

/* Mounts `from` at `to` with mapped ids. Attached, not detached: before 6.15 overlayfs refuses layers that are not in
 * the caller's mount namespace. */
static void show_mapped(const char *from, const char *to, int mapping, uint64_t more)
{
    if (mkdir(to, 0755) && errno != EEXIST)
        die("launch: make the place for %s", from);
    int tree = (int)syscall(NR_open_tree, AT_FDCWD, from, CLONE_TREE | O_CLOEXEC);
    if (tree < 0)
        die("launch: open_tree %s", from);
    struct attributes attributes = {.set = ATTRIBUTE_IDMAP | more, .userns = (uint64_t)mapping};
    if (syscall(NR_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes))
        die("launch: map the ids of %s", from);
    if (syscall(NR_move_mount, tree, "", AT_FDCWD, to, EMPTY_PATH_OF_SOURCE))
        die("launch: attach %s", from);
    close(tree);
}

/* Changing the fsuid takes the file capabilities away; the mount needs them. */
static void act_on_files_as(unsigned long id)
{
    setfsgid((gid_t)id);
    setfsuid((uid_t)id);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data))
        die("launch: capget");
    data[0].effective = data[0].permitted;
    data[1].effective = data[1].permitted;
    if (syscall(SYS_capset, &header, data))
        die("launch: capset");
}

static void die_of_mount(int context, const char *step)
{
    int reason = errno;
    char message[512];
    ssize_t length = read(context, message, sizeof message - 1);
    if (length <= 0) {
        errno = reason;
        die("launch: overlay: %s", step);
    }
    message[length] = 0;
    message[strcspn(message, "\n")] = 0;
    errno = reason;
    die("launch: overlay: %s: kernel says %s", step, message);
}

static void set(int context, const char *name, const char *value)
{
    if (syscall(NR_fsconfig, context, value ? SET_STRING : SET_FLAG, name, value, 0))
        die_of_mount(context, name);
}

static int make_overlay(const struct plan *plan)
{
    char layers[256];
    int used = 0;
    for (int i = 0; i < plan->lower_count; i++)
        used += snprintf(layers + used, sizeof layers - (size_t)used, i ? ":%d" : "%d", i);
    /* As the sandbox's root, so that overlayfs' own files have owner 0 on disk like all others. */
    act_on_files_as(plan->base);
    int context = (int)syscall(NR_fsopen, "overlay", 1u);
    if (context < 0)
        die("launch: fsopen overlay");
    set(context, "source", "cay");
    /* Relative names: the sandbox can read them in its /proc/mounts. */
    set(context, "lowerdir", layers);
    set(context, "upperdir", "w/upper");
    set(context, "workdir", "w/work");
    /* A layer must have the same meaning on every kernel configuration, and after it was copied. */
    set(context, "index", "off");
    set(context, "metacopy", "off");
    set(context, "redirect_dir", "off");
    set(context, "volatile", NULL);
    if (syscall(NR_fsconfig, context, CREATE, NULL, NULL, 0))
        die_of_mount(context, "create");
    act_on_files_as(0);
    int mount = (int)syscall(NR_fsmount, context, 1u, 0u);
    if (mount < 0)
        die_of_mount(context, "fsmount");
    close(context);
    return mount;
}

/* Removes the marker of a volatile overlay, with which the kernel refuses the directory. The node syncs before it keeps
 * anything, so the marker has no meaning for it. */
static void forget_last_mount(const char *upper)
{
    static const char *const left[] = {"incompat/volatile/dirty", "incompat/volatile", "incompat"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/work/work/%s", upper, left[i]);
        if (remove(path) && errno != ENOENT)
            die("launch: remove %s", path);
    }
}

/* runc makes these ready by path, as host root and before it changes the root: where a template, or a sandbox that is
 * brought back, has a link in such a place, it would follow it out. Absent ones are fine, they are made. */
static void require_real_places(const char *merged)
{
    static const char *const places[] = {"dev", "proc", "sys", "run", "etc"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[4096];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", merged, places[i]);
        if (!lstat(path, &status) && !S_ISDIR(status.st_mode))
            refuse("launch: /%s among the sandbox's files is not a directory, as it has to be", places[i]);
    }
}

/* Makes the directory that something is mounted on, as the sandbox's root. Every step must be a real directory: a link
 * among the sandbox's files would lead runc or CRIU to mount it elsewhere, over /proc for example. Nothing of the
 * sandbox runs yet, so what is found here stays. */
static void make_target(const struct plan *plan, const char *target)
{
    int at = open(plan->merged, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0 || target[0] != '/')
        die("launch: enter the root for %s", target);
    act_on_files_as(plan->base);
    umask(022);
    for (const char *part = target + 1; *part;) {
        size_t length = strcspn(part, "/");
        char name[256];
        if (!length || length >= sizeof name)
            refuse("launch: %s is no place for a mount", target);
        memcpy(name, part, length);
        name[length] = 0;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            refuse("launch: %s is no place for a mount", target);
        if (mkdirat(at, name, 0755) && errno != EEXIST)
            die("launch: make %s", target);
        int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            refuse("launch: nothing can be mounted at %s: '%s' on the way there is a link or a file, and no directory",
                   target, name);
        close(at);
        at = next;
        part += length + (part[length] == '/');
    }
    act_on_files_as(0);
    close(at);
}

static void mount_root(const struct plan *plan)
{
    int mapping = open_id_mapping(plan->base);
    forget_last_mount(plan->upper);
    if (unshare(CLONE_NEWNS))
        die("launch: make a mount namespace");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        die("launch: make mounts private");
    if (mount("cay", plan->merged, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=1m"))
        die("launch: mount tmpfs on %s", plan->merged);
    if (chdir(plan->merged))
        die("launch: enter %s", plan->merged);
    for (int i = 0; i < plan->lower_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        show_mapped(plan->lowers[i], name, mapping, 0);
    }
    show_mapped(plan->upper, "w", mapping, 0);
    for (int i = 0; i < plan->mount_count; i++)
        show_mapped(plan->mounts[i], plan->places[i], mapping,
                    ATTRIBUTE_NO_SETUID | ATTRIBUTE_NO_DEVICES |
                        (strcmp(plan->rights[i], "ro") ? 0 : ATTRIBUTE_READ_ONLY));
    close(mapping);
    int root = make_overlay(plan);
    if (chdir("/"))
        die("launch: enter /");
    if (syscall(NR_move_mount, root, "", AT_FDCWD, plan->merged, EMPTY_PATH_OF_SOURCE))
        die("launch: mount on %s", plan->merged);
    close(root);
    require_real_places(plan->merged);
    for (int i = 0; i < plan->mount_count; i++)
        make_target(plan, plan->targets[i]);
}

/* pid 1 of the sandbox inherits runc's stdio, and a file of the host there cannot be checkpointed. This program's own
 * errors still go where the caller wanted them. */
static void give_up_stdio(void)
{
    int complaints = fcntl(2, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (complaints < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        die("launch: open /dev/null");
    stderr = fdopen(complaints, "w");
}

/* Any process whose login uid is unset may set it once; where it is set, that takes a capability over the host. All
 * processes of the sandbox inherit it, and none of them can choose what the host's audit records say of it. A kernel
 * that lets nobody change what the daemon was started with keeps that, which is as good. */
static void set_login(unsigned long uid)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%lu", uid);
    int file = open("/proc/self/loginuid", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return; /* A kernel without audit records. */
    if (write(file, text, (size_t)length) < 0 && errno != EPERM)
        die("launch: write /proc/self/loginuid");
    close(file);
}

int run_launch(int argc, char **argv)
{
    struct plan plan = {0};
    parse(argc, argv, &plan);
    mount_root(&plan);
    set_login(plan.base);
    give_up_stdio();
    execvp(plan.program[0], plan.program);
    die("launch: run %s", plan.program[0]);
}
