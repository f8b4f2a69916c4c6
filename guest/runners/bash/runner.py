"""Runs cells of shell commands for one context. See ../PROTOCOL.md.

One bash lives as long as the context. It is interactive, though without terminal, prompt, history and job control, because only then do
errors such as an unset variable, and SIGINT, end the cell and not the shell. It reads its commands from its standard input, a pipe, three lines a cell:
take the cell, run it, tell its status. Each is a command of its own: an error throws bash out of one of them, never out of all.
The text of a cell comes by a file in memory, since it may be longer than any argument, and reading a pipe costs a call per byte.
"""

import codecs
import fcntl
import json
import os
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time

GATHER = 0.02
CHUNK = 64 * 1024
PIPE = 1 << 20
AGAIN = (0.3, 1, 3)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
JOB = re.compile(rb"\[\d+\] (\d+)\n\Z")

# Where bash finds the ends of pipes that are for it alone; cells do not inherit them.
TEXT, STATUS, OUT, ERR = 200, 201, 202, 203

PRELUDE = r"""
PS1= PS2=; unset MAILCHECK HISTFILE PROMPT_COMMAND; set +o history +H +m; history -c
declare -A __cay_old=() __cay_new=(); __cay_failed= __cay_errexit= __cay_cell='(exit 130)'
__cay_set() { if [[ -v $1 ]]; then __cay_old[$1]=${!1}; [[ $(declare -p "$1") == 'declare -'*x*' '"$1"* ]] || __cay_new[$1]=+x; else __cay_new[$1]=; fi; export "$1=$2"; }
__cay_end() { local s=$2 n; [[ $__cay_failed ]] && s=$__cay_failed; __cay_failed= __cay_cell='(exit 130)'; for n in "${!__cay_old[@]}"; do export "$n=${__cay_old[$n]}"; [[ ${__cay_new[$n]-} ]] && declare -g +x "$n"; unset "__cay_new[$n]"; done; for n in "${!__cay_new[@]}"; do unset -v "$n"; done; __cay_old=() __cay_new=(); printf '%d %d\n' "$1" "$s" >&201; }
"""
TAKE = 'IFS= read -r -d "" __cay_before <&200; IFS= read -r -d "" __cay_cell <&200; eval "$__cay_before"\n'
REDIRECTED = "</dev/null >&202 2>&203 200<&- 201>&- 202>&- 203>&-\n"
RUN = 'eval "$__cay_cell" ' + REDIRECTED

# A failing command under `set -e` ends the shell, and nothing can stop it but a trap that returns before: out of every function, and
# at last out of a sourced file. So cells that use the option are sourced. There bash does not count as interactive, and SIGINT needs
# a trap too. The option is on again in the next cell.
ERREXIT = re.compile(r"\bset\s+(-\S+\s+)*-(\w*e|o\s*errexit|\w*o\s+errexit)")
CAREFUL = (
    "trap '__cay_last=$?; [[ $- == *e* && $BASHPID == $$ ]] && { __cay_failed=${__cay_failed:-$__cay_last}; ((${#BASH_SOURCE[@]} > 1)) || "
    "{ set +e; __cay_errexit=1; }; return $__cay_failed; }' ERR; trap '__cay_failed=130; set -e; return 130' INT; set -E; "
    '[[ $__cay_errexit ]] && { __cay_errexit=; set -e; }; . <(printf %s "$__cay_cell") ' + REDIRECTED
)
RELAX = "__cay_failed=${__cay_failed:-$?}; [[ $- == *e* ]] && __cay_errexit=1; set +e +E; trap - ERR INT\n"


class Stream:
    """One of the shell's output pipes: bytes in, text out."""

    def __init__(self, event, fd):
        self.event = event
        self.fd = fd
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def waiting(self):
        return struct.unpack("i", fcntl.ioctl(self.fd, termios.FIONREAD, b"\0\0\0\0"))[0]

    def read(self, most):
        return os.read(self.fd, most)


class Runner:
    def __init__(self):
        self.move_descriptors()
        self.text = os.memfd_create("cell")
        self.queue = []
        self.rest = b""
        self.status_rest = b""
        self.cell = None
        self.serial = 0
        self.count = 0
        self.careful = False
        self.again = []
        self.interrupted_cell = 0
        self.held = None
        self.held_size = 0
        self.held_since = 0.0
        self.start_shell()

    def move_descriptors(self):
        """The protocol goes to high numbers that nobody inherits."""
        self.requests = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 100)
        self.events = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 100)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    def start_shell(self):
        wake, self.woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.woken, False)
        self.wake = wake
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.set_wakeup_fd(self.woken, warn_on_full_buffer=False)
        pipes = [os.pipe() for _ in range(4)]
        (self.status, status), (out, out_end), (err, err_end), (commands, self.commands) = pipes
        for fd in (out, err):
            grow(fd)
        self.streams = [Stream("out", out), Stream("err", err)]
        inherited = [(self.text, TEXT), (status, STATUS), (out_end, OUT), (err_end, ERR), (commands, 0)]
        actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for ours, theirs in inherited]
        actions.append((os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0))
        shell = ["bash", "--norc", "--noprofile", "--noediting", "-i", "+m", "-s"]
        environment = {k: v for k, v in os.environ.items() if k not in ("BASH_ENV", "ENV", "PROMPT_COMMAND", "PS1")}
        environment["HISTFILE"] = "/dev/null"
        self.pid = os.posix_spawn("/bin/bash", shell, environment, file_actions=actions, setsigdef=[signal.SIGINT])
        for fd in (status, out_end, err_end, commands):
            os.close(fd)
        self.command(PRELUDE)

    def command(self, text):
        try:
            write(self.commands, text.encode())
        except BrokenPipeError:
            pass

    def serve(self):
        poll = select.poll()
        for fd in [self.requests, self.wake, self.status] + [stream.fd for stream in self.streams]:
            poll.register(fd, select.POLLIN)
        while True:
            self.next_request()
            ready = {fd for fd, _ in poll.poll(self.patience())}
            for stream in self.streams:
                if stream.fd in ready:
                    self.take_output(stream, CHUNK)
            if self.wake in ready:
                self.interrupted()
            if self.requests in ready:
                self.read_requests()
            if self.status in ready:
                self.read_status()
            if self.held and time.monotonic() - self.held_since >= GATHER:
                self.flush()
            if self.again and time.monotonic() >= self.again[0]:
                self.interrupt_again()

    def patience(self):
        times = self.again[:1] + ([self.held_since + GATHER] if self.held else [])
        return max(0, (min(times) - time.monotonic()) * 1000 + 1) if times else None

    # Requests

    def read_requests(self):
        data = os.read(self.requests, 1 << 20)
        if not data:
            os.kill(self.pid, signal.SIGKILL)
            os._exit(0)
        lines = (self.rest + data).split(b"\n") if b"\n" in data else None
        if lines is None:
            self.rest += data
            return
        self.rest = lines.pop()
        for line in lines:
            try:
                request = json.loads(line)
            except ValueError:
                continue
            if isinstance(request, dict):
                self.understand(request)

    def understand(self, request):
        if request.get("op") == "setup" or (request.get("op") == "run" and isinstance(request.get("code"), str)):
            self.queue.append(request)

    def next_request(self):
        if self.cell is not None or not self.queue:
            return
        request = self.queue.pop(0)
        if request["op"] == "setup":
            self.hand_over(request, setup_text(request), "")
            return
        self.count += 1
        self.drain()
        self.flush()
        self.send({"event": "begin", "id": request["id"], "count": self.count})
        before = "".join(f"__cay_set {name} {shlex.quote(value)}\n" for name, value in valid(request.get("env")))
        self.hand_over(request, request["code"], before)

    def hand_over(self, request, code, before):
        self.cell = request
        self.serial += 1
        os.ftruncate(self.text, 0)
        os.lseek(self.text, 0, os.SEEK_SET)
        write(self.text, b"".join(part.replace("\0", "").encode("utf-8", "replace") + b"\0" for part in (before, code)))
        os.lseek(self.text, 0, os.SEEK_SET)
        self.careful = self.careful or bool(ERREXIT.search(code))
        self.command(TAKE + (CAREFUL + RELAX if self.careful else RUN) + f"__cay_end {self.serial} $?\n")

    def interrupted(self):
        """The signal went to the shell too, and may have thrown it out of the very line that tells the status: so ask again."""
        try:
            signals = os.read(self.wake, 4096)
        except BlockingIOError:
            return
        if self.cell is not None and signal.SIGINT in signals and self.interrupted_cell != self.serial:
            self.interrupted_cell = self.serial
            self.command(f"__cay_end {self.serial} 130\n")
            self.again = [time.monotonic() + delay for delay in AGAIN]

    def interrupt_again(self):
        """A child that was just being forked loses the signal, and the shell waits for it."""
        self.again.pop(0)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGINT)

    # Outcome

    def read_status(self):
        data = os.read(self.status, 65536)
        if not data:
            self.shell_ended()
        *lines, self.status_rest = (self.status_rest + data).split(b"\n")
        for line in lines:
            serial, status = map(int, line.split())
            if self.cell is not None and serial == self.serial:
                self.finish(status)

    def finish(self, status):
        self.drain()
        self.flush()
        request, self.cell = self.cell, None
        self.again = []
        if request["op"] == "setup":
            answer = {"n": request.get("n")}
            refused = {"event": "refused", "reason": f"cannot enter {request.get('cwd')}"}
            self.send(answer | ({"event": "ready"} if status == 0 else refused))
            return
        if status != 0:
            self.send({"event": "error", "name": "", "value": str(status), "traceback": ""})
        self.send({"event": "end", "id": request["id"]})

    def shell_ended(self):
        """`exit` in a cell; the node sees that the runner is gone."""
        self.drain()
        self.flush()
        status = os.waitpid(self.pid, 0)[1]
        os._exit(os.waitstatus_to_exitcode(status) % 256)

    # Output

    def drain(self):
        """What lies in the pipes now. What background jobs add meanwhile belongs to later."""
        for stream in self.streams:
            left = stream.waiting()
            while left > 0:
                left -= self.take_output(stream, min(left, CHUNK))

    def take_output(self, stream, most):
        data = stream.read(most)
        if stream.event == "err":
            text = stream.decoder.decode(self.without_job_numbers(data))
        else:
            text = stream.decoder.decode(data)
        if text:
            self.hold(stream.event, text)
        return max(1, len(data))

    def without_job_numbers(self, data):
        """An interactive bash tells the number of each background job as soon as it starts; scripts do not want to know."""
        if b"[" not in data:
            return data
        return b"".join(line for line in data.splitlines(keepends=True) if not self.is_job(line))

    def is_job(self, line):
        match = JOB.match(line)
        if not match:
            return False
        try:
            with open(f"/proc/{int(match[1])}/stat", "rb") as stat:
                return int(stat.read().rsplit(b")", 1)[1].split()[1]) == self.pid
        except OSError:
            return True

    def hold(self, event, text):
        if self.held and self.held[0] != event:
            self.flush()
        if not self.held:
            self.held = (event, [])
            self.held_since = time.monotonic()
        self.held[1].append(text)
        self.held_size += len(text)
        if self.held_size >= CHUNK:
            self.flush()

    def flush(self):
        if self.held:
            (event, texts), self.held, self.held_size = self.held, None, 0
            self.send({"event": event, "text": "".join(texts)})

    def send(self, event):
        write(self.events, json.dumps(event).replace("\x7f", "\\u007f").encode("ascii") + b"\n")


def setup_text(request):
    """Runs outside the cells, so its redirections and its status are its own."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in valid(request.get("env"))]
    lines += [f"unset -v {name}" for name in request.get("unset") or [] if NAME.match(str(name))]
    seed = request.get("seed")
    if isinstance(seed, str) and re.fullmatch(r"[0-9a-fA-F]{32}", seed):
        lines.append(f"RANDOM={int(seed[:8], 16)}")
    if request.get("cwd"):
        lines.append(f"builtin cd -- {shlex.quote(request['cwd'])} 2>/dev/null")
    return "\n".join(lines)


def valid(variables):
    return [(name, str(value)) for name, value in (variables or {}).items() if NAME.match(name)]


def grow(fd):
    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE)
    except OSError:
        pass


def write(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


if __name__ == "__main__":
    try:
        Runner().serve()
    except BrokenPipeError:
        sys.exit(0)
