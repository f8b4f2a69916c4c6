"""Speaks to a real runner process as the node does. Every wait has a limit."""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

RUNNER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "runner.py")
LIMIT = 60
SEED = "00112233445566778899aabbccddeeff"


class Cell:
    """All events of one cell."""

    def __init__(self, events):
        self.events = events

    def all(self, kind):
        return [event for event in self.events if event["event"] == kind]

    def text(self, kind="out"):
        return "".join(event["text"] for event in self.all(kind))

    @property
    def count(self):
        return self.all("begin")[0]["count"]

    @property
    def results(self):
        return [event["data"] for event in self.all("result")]

    @property
    def main(self):
        """Text of the last expression."""
        shown = [event["data"] for event in self.all("result") if event["main"]]
        return shown[0]["text/plain"] if shown else None

    @property
    def error(self):
        errors = self.all("error")
        return errors[0] if errors else None

    @property
    def error_name(self):
        return self.error["name"] if self.error else None


class Runner:
    """A runner in a process group of its own."""

    def __init__(self, *arguments, cwd="/tmp", env=None):
        self.process = subprocess.Popen(
            [sys.executable, RUNNER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=None if env is None else {**os.environ, **env},
            start_new_session=True,
        )
        self.raw = []
        self.complaints = b""
        self._events = queue.Queue()
        self._number = 0
        self._reading = threading.Event()
        self._reading.set()
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def send(self, **request):
        self.send_line(json.dumps(request).encode())

    def send_line(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def next(self, kind=None, limit=LIMIT):
        """The next event, or the next of a kind; None at the end of the stream."""
        end = time.monotonic() + limit
        while True:
            event = self._events.get(timeout=max(0.01, end - time.monotonic()))
            if event is None or kind is None or event["event"] == kind:
                return event

    def set_up(self, cwd="/tmp", env=None, seed=SEED, unset=()):
        self.send(op="setup", n=1, cwd=cwd, env=env or {}, seed=seed, unset=list(unset))
        return self.next()

    def begin(self, code, env=None):
        """Sends a cell and waits until it began."""
        self._number += 1
        self.send(op="run", id=self._number, code=code, env=env or {})
        self._begun = self.next("begin")
        return self._begun

    def finish(self, limit=LIMIT):
        events = [self._begun]
        while events[-1]["event"] != "end":
            event = self.next(limit=limit)
            if event is None:
                raise AssertionError(f"the runner ended: {self.complaints!r}")
            events.append(event)
        if events[-1]["id"] != self._number:
            raise AssertionError(f"end of another cell: {events[-1]}")
        return Cell(events)

    def run(self, code, env=None, limit=LIMIT):
        self.begin(code, env)
        return self.finish(limit)

    def wait_for_text(self, wanted):
        """Waits until the running cell has printed something."""
        seen = ""
        while wanted not in seen:
            seen += self.next("out")["text"]

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)

    def pause_reading(self):
        self._reading.clear()

    def resume_reading(self):
        self._reading.set()

    def close(self):
        self._reading.set()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(LIMIT)
        for thread in self._threads:
            thread.join(LIMIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def _read(self):
        for line in self.process.stdout:
            self._reading.wait(LIMIT)
            self.raw.append(line)
            try:
                self._events.put(_strict(line))
            except ValueError as problem:
                self._events.put({"event": "broken", "line": line[:200], "problem": str(problem)})
        self._events.put(None)

    def _listen(self):
        for line in self.process.stderr:
            self.complaints = (self.complaints + line)[-4096:]


_LINE = re.compile(rb"[\x20-\x7e]+\n")


def _strict(line):
    """Parses as the node does: ASCII, one object, no NaN."""
    if not _LINE.fullmatch(line):
        raise ValueError("not a line of printable ASCII")

    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    return json.loads(line, parse_constant=refuse)


class RunnerCase(unittest.TestCase):
    """Cases that share one runner for speed; those that harm it make their own."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.runner = Runner(*cls.arguments)
        cls.addClassCleanup(cls.runner.close)
        assert cls.runner.set_up() == {"event": "ready", "n": 1}

    def own(self, *arguments, **options):
        runner = Runner(*arguments, **options)
        self.addCleanup(runner.close)
        self.assertEqual(runner.set_up(), {"event": "ready", "n": 1})
        return runner

    def run_cell(self, code, env=None):
        return self.runner.run(code, env)

    def good(self, code, env=None):
        """Runs a cell that must not fail."""
        cell = self.runner.run(code, env)
        self.assertIsNone(cell.error, cell.error and cell.error["traceback"])
        return cell
