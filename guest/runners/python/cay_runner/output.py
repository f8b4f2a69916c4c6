"""What goes out: printed text and events, in the order they were caused, through one writing thread.

Only that thread writes to the event pipe. So an interrupt, or any exception that a signal handler of the user raises
in the main thread, can never cut a line in two, and a node that reads slowly makes printing wait, not memory grow.
"""

import codecs
import collections
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import threading
from os import _exit
from time import monotonic, sleep

from cay_runner.descriptors import high, is_open
from cay_runner.frames import event_line

GATHER_SECONDS = 0.02
# `print` writes a text and its line end one after the other, and a busy machine takes its time between them.
HALF_LINE_SECONDS = 0.2
GATHER_CHARS = 64 << 10
MAX_QUEUED = 1 << 20
"""Characters that may wait for the event pipe before whoever prints waits as well."""

EXIT_SECONDS = 1
"""What a cell that ends the process gives us for the rest of its output."""


class Outlet:
    """Owner of the event pipe and of the pipes behind descriptors 1 and 2."""

    def __init__(self, events, gate):
        self._events = events
        self._gate = gate
        self._queue = collections.deque()
        self._half = False
        self._queued = 0
        self._urgent = False
        self._writing = False
        self._lock = threading.RLock()
        self._pipe_lock = threading.RLock()
        self._wake = high(os.eventfd(0, os.EFD_NONBLOCK))
        self._pipes = [_Pipe("out", 1), _Pipe("err", 2)]
        with select.epoll() as low:
            self._ready = select.epoll.fromfd(high(os.dup(low.fileno())))
        for pipe in self._pipes:
            self._ready.register(pipe.source, select.EPOLLIN)
        self._writer = None
        self._held = {"out": "", "err": ""}
        self.forked = False
        """True in a child made by `os.fork`: it speaks only through descriptors 1 and 2, which its parent reads."""

    def start(self):
        thread = threading.Thread(target=self._write_forever, name="cay-events", daemon=True)
        thread.start()
        self._writer = thread.ident
        os.register_at_fork(after_in_child=self._after_fork)

    def text(self, kind, text):
        """Printed text of Python itself. Waits while too much is queued."""
        if self.forked:
            self._held[kind] += text
            if "\n" in text:
                self.flush_child(kind)
            return
        if text != "\n":
            self.collect()
        for start in range(0, len(text), GATHER_CHARS):
            self._await_room()
            self._put(kind, text[start : start + GATHER_CHARS])

    def flush_child(self, kind):
        """Writes what a forked child has printed; whole lines, as several children may print at once."""
        text, self._held[kind] = self._held[kind], ""
        _write_all(1 if kind == "out" else 2, text.encode("utf-8", "replace"))

    def event(self, event, **fields):
        """Sends an event after all that was printed before it."""
        self.line(event_line(event, **fields))

    def line(self, line, wait=False):
        """Like `event`, for a line made already; with `wait` it is held back while too much is queued."""
        if self.forked:
            return
        self.collect()
        if wait:
            self._await_room()
        with self._lock:
            self._queue.append((None, line))
            self._queued += len(line)
        self._hurry()

    def collect(self):
        """Takes over what child processes and native code have written to descriptors 1 and 2 until now, no more:
        a child that never stops printing must not keep us here."""
        if self.forked or not self._ready.poll(0):
            return
        with self._gate, self._pipe_lock:
            for pipe in self._pipes:
                for text in pipe.take():
                    self._put(pipe.kind, text)

    def settle(self):
        """Ends the gathering of a cell's text: native buffers are emptied, half characters are given up."""
        if self.forked:
            return
        _flush_native()
        self.collect()
        with self._pipe_lock:
            for pipe in self._pipes:
                if text := pipe.give_up():
                    self._put(pipe.kind, text)

    def exit(self, code):
        """Stands in the place of `os._exit`: what was printed and sent before still goes out, if that is soon done."""
        if self.forked:
            self.flush_child("out")
            self.flush_child("err")
        else:
            self.settle()
            limit = monotonic() + EXIT_SECONDS
            while (self._queue or self._writing) and monotonic() < limit:
                sleep(0.001)
        _exit(code)

    def mend(self):
        """Opens descriptors 0 to 2 again if a cell closed them; what it put in their place stays."""
        if not is_open(0):
            null = os.open(os.devnull, os.O_RDWR)  # lands on 0, the lowest that is free
            if null != 0:
                os.dup2(null, 0)
                os.close(null)
            os.set_inheritable(0, True)
        for pipe in self._pipes:
            if not is_open(pipe.target):
                os.dup2(pipe.sink, pipe.target)

    def _put(self, kind, text):
        if not text:
            return
        with self._lock:
            awaited = not self._queue or (self._half and text.endswith("\n"))
            self._queue.append((kind, text))
            self._queued += len(text)
            full = self._queued >= GATHER_CHARS
        if full:
            self._hurry()
        elif awaited:
            os.eventfd_write(self._wake, 1)

    def _hurry(self):
        if not self._urgent:
            self._urgent = True
            os.eventfd_write(self._wake, 1)

    def _await_room(self):
        pause = 0.0005
        while self._queued > MAX_QUEUED and threading.get_ident() != self._writer:
            sleep(pause)
            pause = min(pause * 2, 0.02)

    def _write_forever(self):
        try:
            self._write()
        finally:
            _exit(1)  # a runner that cannot answer must not seem alive

    def _write(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        poller = select.poll()
        for descriptor in (self._wake, *(pipe.source for pipe in self._pipes)):
            poller.register(descriptor, select.POLLIN)
        since = deadline = None
        while True:
            timeout = None if deadline is None else max(0.0, deadline - monotonic()) * 1000
            for descriptor, _ in poller.poll(timeout):
                if descriptor == self._wake:
                    os.eventfd_read(self._wake)
                else:
                    self.collect()
            if not self._queue:
                since = deadline = None
                continue
            since = since or monotonic()
            with self._lock:
                self._half = not self._queue[-1][1].endswith("\n")
            deadline = since + (HALF_LINE_SECONDS if self._half else GATHER_SECONDS)
            if self._urgent or self._queued >= GATHER_CHARS or monotonic() >= deadline:
                self._flush()
                since = deadline = None

    def _flush(self):
        with self._lock:
            self._writing = True
            items, self._queue = self._queue, collections.deque()
            self._queued = 0
            self._urgent = False
        try:
            for line in _lines(items):
                _write_all(self._events, line.encode("ascii"))
        except OSError:
            _exit(0)  # nobody listens any more
        self._writing = False

    def _after_fork(self):
        self.forked = True
        self._lock = threading.RLock()
        self._pipe_lock = threading.RLock()
        self._queue.clear()
        self._ready.close()
        for descriptor in (self._events, self._wake, *(pipe.source for pipe in self._pipes)):
            os.close(descriptor)


class _Pipe:
    """Stands behind descriptor 1 or 2; the runner keeps a writing end of its own, so that it never ends."""

    def __init__(self, kind, target):
        self.kind = kind
        self.target = target
        source, sink = os.pipe()
        self.source = high(source)
        self.sink = high(sink)
        os.dup2(self.sink, target)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self):
        waiting = struct.unpack("i", fcntl.ioctl(self.source, termios.FIONREAD, b"\0\0\0\0"))[0]
        while waiting > 0:
            chunk = os.read(self.source, min(waiting, GATHER_CHARS))
            waiting -= len(chunk)
            yield self._decoder.decode(chunk)

    def give_up(self):
        return self._decoder.decode(b"", final=True)


def _lines(items):
    """Joins neighbouring texts of one kind to events of about GATHER_CHARS and passes lines through."""
    kind, texts, size = None, [], 0
    for item_kind, text in items:
        if texts and (item_kind != kind or size >= GATHER_CHARS):
            yield event_line(kind, text="".join(texts))
            texts, size = [], 0
        if item_kind is None:
            yield text
        else:
            kind = item_kind
            texts.append(text)
            size += len(text)
    if texts:
        yield event_line(kind, text="".join(texts))


def _write_all(descriptor, data):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _flush_native():
    """Text that C code printed into the buffer of its own library; only who loads ctypes or numpy has such code."""
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None:
        try:
            ctypes.pythonapi.fflush(None)
        except Exception:
            pass
