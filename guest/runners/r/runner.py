"""The runner of R cells: owns an R process that evaluates (runner.R), speaks for it with the node, and reads what it prints.

R has one thread and no way to move descriptors, so it can neither answer while a cell runs nor read its own output. Between this
process and R there are four pipes: messages to R (its descriptor 3), messages from R (4), and R's descriptors 1 and 2. R waits after
every result until it is taken here, so that results and printed text keep their order.

A message is a count of fields, the length of each field, both as 16 decimal digits, and the fields.
"""

import base64
import collections
import codecs
import json
import os
import select
import signal
import subprocess
import sys
import time

HIGH = 240
CHUNK = 64 << 10
GATHER = 0.02
# R writes a line in several pieces, and a busy machine takes its time between them.
HALF_LINE = 0.2
LONGEST_LINE = 32 << 20
LONGEST_MESSAGE = 1 << 20
DIGITS = 16
# R is deaf while it waits for a command: the command dies of the interrupt, R goes on. So there is a file that tells R of it when it hears
# again (see runner.R), and commands that run while the cell should end are interrupted, too.
WATCH = 0.05
WATCHES = 200
# An R that stopped being deaf before that file was there hears of it again so much later. Not at once: one of some thousand sleeping R
# crashes when a second interrupt comes right after the first.
AGAIN = 0.25


class Events:
    """The one way out. Text is gathered for a moment, and leaves before any event that comes after it."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.channel = None
        self.pending = []
        self.size = 0
        self.since = 0.0
        self.decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("out", "err")}

    def print(self, channel, data):
        if self.channel != channel:
            self.flush()
            self.channel, self.since = channel, time.monotonic()
        self.pending.append(data)
        self.size += len(data)
        if self.size >= CHUNK:
            self.flush()

    def due(self):
        """Seconds until the text gathered so far must leave; None when there is none."""
        if self.channel is None:
            return None
        patience = GATHER if self.pending[-1].endswith(b"\n") else HALF_LINE
        return max(0.0, self.since + patience - time.monotonic())

    def flush(self, last=False):
        channel, data = self.channel, b"".join(self.pending)
        self.channel, self.pending, self.size = None, [], 0
        if channel is not None:
            self._text(channel, data, False)
        if last:
            for name in self.decoders:
                self._text(name, b"", True)

    def _text(self, channel, data, final):
        text = self.decoders[channel].decode(data, final)
        for start in range(0, len(text), CHUNK):
            self._line({"event": channel, "text": text[start : start + CHUNK]})

    def send(self, event, **fields):
        """False when it is longer than the node would take."""
        self.flush(last=event == "end")
        return self._line({"event": event, **fields})

    def _line(self, event):
        line = json.dumps(event, separators=(",", ":"), allow_nan=False).encode("ascii").replace(b"\x7f", b"\\u007f") + b"\n"
        if len(line) > LONGEST_LINE:
            return False
        view = memoryview(line)
        while view:
            view = view[os.write(self.descriptor, view) :]
        return True


class R:
    """The R process and its four pipes."""

    def __init__(self):
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        self.out, out = os.pipe()
        self.err, err = os.pipe()
        environment = dict(os.environ)
        if "UTF-8" not in environment.get("LC_ALL", environment.get("LANG", "")).upper():
            environment.pop("LC_ALL", None)
            environment.update(LANG="C.UTF-8", LC_CTYPE="C.UTF-8")

        def arrange():
            # R makes its own handler; until then an interrupt must not end it.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for number, descriptor in enumerate((requests, answers, out, err), HIGH + 10):
                os.dup2(descriptor, number)
            for number, target in zip(range(HIGH + 10, HIGH + 14), (3, 4, 1, 2)):
                os.dup2(number, target)
                os.close(number)

        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.R")
        self.process = subprocess.Popen(
            ["/usr/bin/Rscript", "--vanilla", script],
            stdin=subprocess.DEVNULL,
            env=environment,
            pass_fds=(requests, answers, out, err, 3, 4),
            preexec_fn=arrange,
        )
        for descriptor in (requests, answers, out, err):
            os.close(descriptor)
        for descriptor in (self.answers, self.out, self.err):
            os.set_blocking(descriptor, False)
        self.received = bytearray()

    def send(self, *fields):
        fields = [field.replace("\0", "\ufffd").encode("utf-8", "replace") for field in fields]
        head = "".join(f"{number:0{DIGITS}d}" for number in (len(fields), *map(len, fields)))
        self.write(head.encode() + b"".join(fields))

    def write(self, data):
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self.requests, view) :]
        except BrokenPipeError:
            pass  # It is gone; the main loop will see that.

    def is_deaf(self):
        """Whether it ignores interrupts, as C's system() makes it while a command runs."""
        with open(f"/proc/{self.process.pid}/status") as status:
            ignored = next((line.split()[1] for line in status if line.startswith("SigIgn:")), "0")
        return bool(int(ignored, 16) >> (signal.SIGINT - 1) & 1)

    def messages(self):
        """The complete messages among what has come."""
        while True:
            try:
                data = os.read(self.answers, CHUNK)
            except BlockingIOError:
                break
            if not data:
                break
            self.received += data
        while (message := self._take()) is not None:
            yield message

    def _take(self):
        if len(self.received) < DIGITS:
            return None
        count = int(self.received[:DIGITS])
        head = DIGITS * (count + 1)
        if len(self.received) < head:
            return None
        lengths = [int(self.received[at : at + DIGITS]) for at in range(DIGITS, head, DIGITS)]
        if len(self.received) < head + sum(lengths):
            return None
        fields, at = [], head
        for length in lengths:
            fields.append(bytes(self.received[at : at + length]))
            at += length
        del self.received[:at]
        return fields


class Runner:
    def __init__(self, requests, events):
        self.requests = requests
        self.events = events
        self.wake, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        # Wakes the loop when R ends. A descriptor of the process would do it too, but no checkpoint can hold one.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.r = R()
        self.queue = collections.deque()
        self.line = bytearray()
        self.working = None
        self.cell = None
        self.setup = None
        self.count = 0
        self.watches = 0
        self.watch_at = None
        self.again_at = None
        self.flag = os.devnull
        signal.signal(signal.SIGINT, self.interrupted)

    def interrupted(self, *_):
        if self.cell is None:
            return
        try:
            open(self.flag, "w").close()
        except OSError:
            pass  # The cell took R's directory away: what R hears itself has to do.
        self.watches, self.watch_at = WATCHES, time.monotonic()
        self.again_at = self.watch_at + AGAIN

    def run(self):
        poll = select.poll()
        for descriptor in (self.requests, self.r.answers, self.r.out, self.r.err, self.wake):
            poll.register(descriptor, select.POLLIN)
        while True:
            gone = self.r.process.poll() is not None
            ready = {descriptor for descriptor, _ in poll.poll(0 if gone else self.patience())}
            if self.wake in ready:
                os.read(self.wake, 4096)
            for descriptor, channel in ((self.r.out, "out"), (self.r.err, "err")):
                if descriptor in ready:
                    self.take(descriptor, channel)
            if self.r.answers in ready:
                for message in self.r.messages():
                    self.answer(message)
            if gone:
                return self.leave()
            if self.requests in ready and not self.read():
                self.r.process.kill()
                return 0
            self.proceed()
            if self.events.due() == 0:
                self.events.flush()
            self.watch()

    def patience(self):
        times = [due for due in (self.events.due(),) if due is not None]
        if self.watch_at is not None:
            times.append(max(0.0, self.watch_at - time.monotonic()))
        return 1000 * min(times) + 1 if times else None

    def take(self, descriptor, channel):
        """No more than fits into the pipe: a command in the background may print for ever."""
        taken = 0
        while taken < 2 * CHUNK:
            try:
                data = os.read(descriptor, CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            self.events.print(channel, data)
            taken += len(data)

    def drain(self):
        self.take(self.r.out, "out")
        self.take(self.r.err, "err")

    def leave(self):
        """R ended, by `quit()` or by a crash: so does its runner."""
        self.drain()
        for message in self.r.messages():
            self.answer(message)
        self.events.flush(last=True)
        status = self.r.process.wait()
        return status if status >= 0 else 128 - status

    def read(self):
        data = os.read(self.requests, CHUNK)
        if not data:
            return False
        self.line += data
        *lines, rest = self.line.split(b"\n") if b"\n" in data else (self.line,)
        self.line = bytearray(rest)
        for line in lines:
            self.request(line)
        return True

    def request(self, line):
        try:
            request = json.loads(line)
            op = request["op"]
            if op in ("setup", "run"):
                self.queue.append(self.message(op, request))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return  # Half a line of a node that was killed.

    @staticmethod
    def message(op, request):
        variables = [part for name, value in (request.get("env") or {}).items() if name for part in (name, str(value))]
        if op == "run":
            code = request["code"].replace("\r\n", "\n")
            return op, int(request["id"]), [code, *variables]
        unset = [str(name) for name in request.get("unset") or []]
        return op, int(request.get("n", 0)), [request.get("cwd") or "", request.get("seed") or "", str(len(unset)), *unset, *variables]

    def proceed(self):
        if self.working is not None or not self.queue:
            return
        self.working, number, fields = self.queue.popleft()
        if self.working == "setup":
            self.setup = number
        else:
            self.cell = number
            self.count += 1
            self.events.send("begin", id=self.cell, count=self.count)
        self.r.send(self.working, *fields)

    def answer(self, fields):
        self.drain()
        kind = fields[0].decode()
        texts = [field.decode("utf-8", "replace") for field in fields[1:]]
        if kind == "result":
            self.result(texts[::2], fields[2::2])
            self.r.write(b".")
        elif kind == "error":
            name, value, traceback = (text[:LONGEST_MESSAGE] for text in texts)
            self.events.send("error", name=name, value=value, traceback=traceback)
        elif kind == "interrupts":
            self.flag = texts[0]
        elif kind == "refused":
            self.working = None
            self.events.send("refused", n=self.setup, reason=texts[0])
        elif kind == "ready":
            self.working = None
            self.events.send("ready", n=self.setup)
        elif kind == "done":
            cell, self.cell, self.working, self.watch_at = self.cell, None, None, None
            self.events.send("end", id=cell)

    def result(self, types, values):
        data = {}
        for mime, value in zip(types, values):
            is_image = mime.startswith("image/") and mime != "image/svg+xml"
            data[mime] = base64.b64encode(value).decode() if is_image else value.decode("utf-8", "replace")
        if not self.events.send("result", main=False, data=data):
            size = sum(map(len, values))
            self.events.print("err", f"the value is too long to be shown: {size} bytes\n".encode())

    def watch(self):
        if self.watch_at is None or time.monotonic() < self.watch_at:
            return
        self.watches -= 1
        self.watch_at = time.monotonic() + WATCH if self.watches > 0 else None
        if self.cell is None:
            return
        if self.r.is_deaf():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.killpg(0, signal.SIGINT)
            signal.signal(signal.SIGINT, self.interrupted)
        elif self.again_at is not None and time.monotonic() >= self.again_at:
            self.again_at = None
            self.r.process.send_signal(signal.SIGINT)


def main():
    os.dup2(0, HIGH, inheritable=False)
    os.dup2(1, HIGH + 1, inheritable=False)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    try:
        status = Runner(HIGH, Events(HIGH + 1)).run()
    except BrokenPipeError:
        status = 0
    sys.stderr.flush()
    os._exit(status)


main()
