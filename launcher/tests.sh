# shellcheck shell=bash
# The functions of `cay test`: they run the tests and report what tests left behind on the host. `cay` sources this file
# and defines the other functions that are used here.

# HostLedger records all Cays and test runs of this host in this directory.
ledger=/run/cay-host

# process_name PID: prints the process's number and start time, because the kernel uses numbers again.
process_name() {
    local stat fields
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    read -ra fields <<<"${stat##*) }"
    printf '%s-%s' "$1" "${fields[19]}"
}

# lives NAME: succeeds if the process with this name still runs.
lives() { [[ $(process_name "${1%%-*}") == "$1" ]]; }

# Succeeds if the ledger has a killed test run, or something that one reserved.
has_dead_tests() {
    local name
    for name in $(cd "$ledger/runs" 2>/dev/null && ls) $(sed -n 's/^ *"\(keeper\|run\)" : "\([0-9-]*\)".*/\2/p' "$ledger/host.json" 2>/dev/null); do
        lives "$name" || return 0
    done
    return 1
}

# Runs before the tests: removes what a killed run left, and records this run with a directory for all its files.
begin_run() {
    if has_dead_tests; then
        say "removing what a killed test run left behind"
        build_if_needed
        (run command tidy) || say "some of it is still there; see above"
    fi
    _CAY_TEST_RUN=$(process_name $$)
    export _CAY_TEST_RUN
    mkdir -p "$ledger/runs"
    chmod 700 "$ledger" "$ledger/runs"
    run_directory=$(readlink -f "$(mktemp -d "${TMPDIR:-/tmp}/cay-XXXXXX")")
    # Root users of sandboxes must be able to enter it to reach their bundles.
    chmod 711 "$run_directory"
    printf '%s\n' "$run_directory" >"$ledger/runs/$_CAY_TEST_RUN"
}

end_run() {
    rm -rf --one-file-system "$run_directory" && rm -f "$ledger/runs/$_CAY_TEST_RUN"
}

# Prints "INSTANCE STATE-DIRECTORY RUN-DIRECTORY PID GATEWAY" for every Cay that is on record, but not for what this run
# has reserved.
others_on_record() {
    [[ -r $ledger/host.json ]] || return 0
    awk -v mine="${_CAY_TEST_RUN:-none}" '
        function value(line) { sub(/^[^:]*: "?/, "", line); sub(/"?,?$/, "", line); return line }
        /"instance" :/ { name = value($0) }
        /"pid" :/ { pid[name] = pid[name] " " value($0) }
        /"stateDir" :/ { state[name] = value($0) }
        /"runDir" :/ { run[name] = value($0) }
        /"range" :/ { gateway[name] = value($0); sub(/0\/[0-9]+$/, "1/32", gateway[name]) }
        /"run" :/ && value($0) == mine { own[name] = 1 }
        END { for (name in state) if (!(name in own)) print name, state[name], run[name], gateway[name], pid[name] }
    ' "$ledger/host.json"
}

# Reads lines of host_state and leaves out those that belong to another Cay or another test run.
without_others() {
    local others things name state run gateway pids pid pattern
    others=$(others_on_record)
    things=$(cat)
    # Tests of this run have their files in its own directory, those of others elsewhere.
    things=$(grep -vE "^(mount|loop device of) /tmp/(junit|cay-)" <<<"$things" || true)$'\n'$(grep -F " ${run_directory:-/nowhere}" <<<"$things" || true)
    while read -r name state run gateway pids; do
        [[ -n $name ]] || continue
        pattern="^(mount|loop device of) ($state|$run)(/|\$)|^link cay$name-|^netns cay$name-|^nft table .*cay_$name( |\$)|^iptables rule .*\"cay_$name\"|^cgroup .*/cay-$name(/|\$)|^address ${gateway//./\\.} "
        for pid in $pids; do pattern+="|^process $pid "; done
        things=$(grep -vE "$pattern|^process [0-9]+ [^ ]+ of $name\$" <<<"$things" || true)
        # Another Cay on this host needs raised kernel settings and restores them when it ends.
        things=$(grep -v '^setting ' <<<"$things" || true)
    done <<<"$others"
    sed '/^$/d' <<<"$things"
}

# Prints what Cay and its tests could leave behind on the host, one thing per line. Things that other programs create are
# left out.
host_state() {
    awk '$2 ~ /cay|junit/ || $1 ~ /cay|junit/ { print "mount " $2 }' /proc/mounts
    ip -o link 2>/dev/null | sed -n 's/^[0-9]*: \(cay[^:@]*\).*/link \1/p'
    ip -o -4 address show dev lo 2>/dev/null | awk '$4 !~ /^127\./ { print "address " $4 " on lo" }'
    ip netns list 2>/dev/null | sed -n 's/^\([^ ]*cay[^ ]*\).*/netns \1/p'
    nft list tables 2>/dev/null | sed -n 's/^table \(.*cay.*\)/nft table \1/p'
    if nft list tables 2>/dev/null | grep -qx 'table ip filter'; then
        nft list table ip filter 2>/dev/null | sed -n 's/^[[:space:]]*\(.*comment "cay_.*\)/iptables rule \1/p'
    fi
    losetup --list --noheadings --output BACK-FILE 2>/dev/null | sed -n '/cay\|junit\|btrfs/s/^/loop device of /p'
    find /sys/fs/cgroup -maxdepth 5 -type d -name 'cay*' -printf 'cgroup %p\n' 2>/dev/null
    cay_processes
    local setting
    for setting in net/ipv4/ip_forward fs/inotify/max_user_instances fs/inotify/max_user_watches fs/inotify/max_queued_events kernel/pid_max fs/file-max kernel/pty/max \
        net/ipv4/neigh/default/gc_thresh{1,2,3} net/netfilter/nf_conntrack_max; do
        [[ ! -r /proc/sys/$setting ]] || printf 'setting %s = %s\n' "$setting" "$(<"/proc/sys/$setting")"
    done
}

# Prints the original kernel settings if a running or killed Cay has raised them. The last Cay of a host restores them, so
# the original values do not count as left behind.
settings_before_cay() {
    [[ ! -r $ledger/host.json ]] ||
        sed -n 's/^ *"\([^"]*\/[^"]*\)" : {$/\1/p; s/^ *"original" : "\(.*\)",\{0,1\}$/\1/p' $ledger/host.json |
        paste -d= - - | sed 's/^/setting /; s/=/ = /'
}

# Prints guests, found by their name, and daemons, found by their command line.
cay_processes() {
    local entry name
    for entry in /proc/[0-9]*; do
        name=
        { read -r name <"$entry/comm"; } 2>/dev/null || continue
        if [[ $name == cay-* ]] || { [[ $name == java ]] && grep -qsa 'dev\.cay\.cli\.Main' "$entry/cmdline"; }; then
            printf 'process %s %s%s\n' "${entry#/proc/}" "$name" \
                "$(sed -n 's/^.*:\/cay-\([a-z0-9]*\)\/.*/ of \1/p' "$entry/cgroup" 2>/dev/null | head -n1)"
        fi
    done
}

# leftovers BEFORE: prints what the host has now and had not before, without what belongs to others.
leftovers() { comm -13 <(sort -u <<<"$1") <(host_state | without_others | sort -u); }

# The kernel removes namespaces and cgroups a moment after the process that asked for it ends, so this waits.
wait_for_leftovers() {
    local before=$1 left attempt
    for attempt in {1..15}; do
        left=$(leftovers "$before")
        [[ -n $left && $attempt -lt 15 ]] || break
        sleep 1
    done
    [[ -z $left ]] || printf '%s\n' "$left"
}

# owner_of THING: prints the process that uses the thing, if it can be found: a process itself, else one that has the thing,
# or the test's directory around it, in its command line or open.
owner_of() {
    local thing=$1 pid='' place
    if [[ $thing == process\ * ]]; then
        pid=${thing#process }
        pid=${pid%% *}
    elif place=$(grep -oE '/[^ ]*(cay|junit)[^/ ]*' <<<"$thing" | head -n1) && [[ -n $place ]]; then
        pid=$(grep -lsaF "$place" /proc/[0-9]*/cmdline | grep -v "/$$/" | head -n1 | cut -d/ -f3 || true)
        [[ -n $pid ]] || pid=$(find /proc/[0-9]*/fd /proc/[0-9]*/cwd -maxdepth 1 -lname "$place*" -print -quit 2>/dev/null | cut -d/ -f3 || true)
    fi
    [[ -n $pid && -r /proc/$pid/cmdline ]] || return 0
    printf ' (pid %s: %s)' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | sed 's/-cp [^ ]*/-cp .../; s/-classpath [^ ]*/-classpath .../' | cut -c1-160)"
}

# Reports what is left and which process uses it; fails if there is anything.
report_leftovers() {
    local left thing
    left=$(wait_for_leftovers "$1")
    [[ -n $left ]] || return 0
    say "left behind on this host since the tests began:"
    while read -r thing; do
        say "  $thing$(owner_of "$thing")"
    done <<<"$left"
    return 1
}

# Maven warns so when modules are built side by side. It is harmless: the plugin only looks for a JDK.
parallel_warning='^\[WARNING\] (\*|$|Enable debug to see precisely|The following plugins are not marked|  org.apache.maven.plugins:maven-toolchains-plugin)'

# Maven warns so about `acceptance`, which contains only tests.
no_classes_warning='^\[WARNING\] I/O error reading dependency state: .*/target/classes$'

# maven_offline LOG ARGUMENT...: runs Maven offline if an earlier run with the same build files has fetched everything. If
# not, or if something is missing by now, it runs Maven online.
maven_offline() {
    local log=$1 stamp result
    shift
    touch "$home/target/tests-began"
    stamp=$(cache_dir)/complete/$(cd "$home" && git ls-files -z -- '*pom.xml' 2>/dev/null | xargs -0 cat 2>/dev/null | sha256sum | cut -c1-16)
    if [[ -f $stamp ]]; then
        maven_logged "$log" -o "$@" && return 0 || result=$?
        grep -qE 'in offline mode|has not been downloaded from it before' "$log" || return "$result"
        rm -f "$stamp"
        say "something is missing in $(cache_dir)/m2; going online"
    fi
    maven_logged "$log" "$@" || return
    mkdir -p "${stamp%/*}" && touch "$stamp"
}

maven_logged() {
    local log=$1 result
    shift
    set +e
    run_maven "$@" 2>&1 | tee "$log" |
        grep --line-buffered -E '^\[(ERROR|WARNING)\]|Tests run:|\] Building |Reactor Summary|SUCCESS|FAILURE|Total time' |
        grep --line-buffered -vE "$parallel_warning|$no_classes_warning"
    result=${PIPESTATUS[0]}
    set -e
    return "$result"
}

# Two modules are tested side by side where neither needs the other. `test.processes` of a pom.xml says how many classes of a
# module are tested at once. HostLedger reserves what each process needs of the host.
side_by_side=(-T 2)

# named_tests [NAME]: prints the options that limit Maven to the tests with that name.
named_tests() {
    [[ $# -eq 0 ]] || printf '%s\n' -Dtest="$1" -Dsurefire.failIfNoSpecifiedTests=false
}

# Prints each failed test of this run with its cause in one line. Surefire's own summary cuts a message at its first line
# break, and messages of assertions begin with one.
report_failures() {
    find "$home" -path '*/target/surefire-reports/TEST-*.xml' -newer "$home/target/tests-began" -exec awk '
        function attribute(line, name,   rest) {
            if (!match(line, " " name "=\"[^\"]*")) return ""
            rest = substr(line, RSTART, RLENGTH)
            sub(/^[^"]*"/, "", rest)
            gsub(/(&#10;|&#9;| )+/, " ", rest)
            gsub(/&quot;/, "\"", rest); gsub(/&apos;/, "\x27", rest); gsub(/&lt;/, "<", rest); gsub(/&gt;/, ">", rest); gsub(/&amp;/, "\\&", rest)
            sub(/^ /, "", rest)
            return rest
        }
        /<testcase / { test = attribute($0, "classname"); sub(/^.*\./, "", test); test = test "." attribute($0, "name") }
        /<(failure|error)[ >]/ {
            cause = attribute($0, "message")
            if (cause == "") cause = attribute($0, "type")
            print "failed: " test ": " substr(cause, 1, 300)
        }' {} + | sort -u
}

# report_tests LOG: prints Surefire's closing line of each module, and the failed tests.
report_tests() {
    echo
    grep -E '^\[(INFO|ERROR|WARNING)\] Tests run:.*[0-9]$' "$1" || say "no tests were run"
    report_failures
}

# Runs all tests; they start real sandboxes.
run_tests() {
    local before result=0 log=$home/target/test.log options
    is_root || fail "tests start real sandboxes and need root: sudo ./cay test (without root: ./cay test --fast)"
    require_packages "testing" "$packages_to_run"
    require_packages "the build" "$packages_to_build"
    require_packages "testing" "$packages_to_test"
    choose_maven
    mkdir -p "$home/target"
    mapfile -t options < <(named_tests "$@")
    begin_run
    before=$(host_state; settings_before_cay)
    maven_offline "$log" "${side_by_side[@]}" -Dcay.test.files="$run_directory" "${options[@]}" verify || result=$?
    report_tests "$log"
    report_leftovers "$before" || result=1
    end_run || result=1
    if [[ $result -eq 0 ]]; then echo "all good; nothing left behind"; else say "failed; everything is in $log"; fi
    return "$result"
}

# Runs the tests that need no root and start no sandbox.
run_fast_tests() {
    local result=0 log=$home/target/test-fast.log options files
    require_packages "the build" "$packages_to_build"
    choose_maven
    mkdir -p "$home/target" 2>/dev/null && [[ -w $home/target ]] ||
        fail "$home/target belongs to another user; run the tests as that user or in a copy of your own"
    mapfile -t options < <(named_tests "$@")
    files=$(mktemp -d "${TMPDIR:-/tmp}/cay-XXXXXX")
    maven_offline "$log" "${side_by_side[@]}" -Dgroups='fast & !root' -Dcay.test.files="$files" "${options[@]}" package ||
        result=$?
    report_tests "$log"
    rm -rf --one-file-system "$files"
    if [[ $result -eq 0 ]]; then echo "all good"; else say "failed; everything is in $log"; fi
    return "$result"
}

test_help() {
    cat <<'TEXT'
Usage: cay test [--fast] [NAME]

  cay test          all tests, with real sandboxes and E2B's own clients; needs root and leaves nothing on the host
  cay test --fast   the tests that need no root, no sandbox and no daemon; any user, a few minutes
  NAME              only classes (or Class#method) that match it; * stands for anything

A class says by @Fast or @NeedsRoot which of them it is in. docs/develop.md has the times.

  sudo ./cay test SandboxApiTest
  ./cay test --fast 'Catalog*'
TEXT
}

# test_command [--fast] [NAME]
test_command() {
    local runner=run_tests word names=()
    for word in "$@"; do
        case $word in
            --fast) runner=run_fast_tests ;;
            -h | --help)
                test_help
                return
                ;;
            -*)
                test_help >&2
                fail "test has no option $word"
                ;;
            *) names+=("$word") ;;
        esac
    done
    [[ ${#names[@]} -le 1 ]] || fail "test takes one NAME; separate several by commas: ./cay test $(IFS=,; printf '%s' "${names[*]}")"
    choose_jdk
    "$runner" "${names[@]}"
}
