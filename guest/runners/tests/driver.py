"""Speaks to a runner as the node does. Used by the tests of the runners; needs nothing but Python."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

LIMIT = float(os.environ.get("LIMIT", "60"))
SEED = "00112233445566778899aabbccddeeff"
COMMAND = []


class Runner:
    """One runner process, with its events in a queue."""

    def __init__(self, cwd="/tmp", env=None, seed=SEED):
        self.process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.events = queue.Queue()
        self.next_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ready = self.setup(cwd, env or {}, seed)

    def _read(self):
        for line in self.process.stdout:
            if len(line) > 32 << 20:
                self.events.put({"event": "too long", "length": len(line)})
                continue
            self.events.put(json.loads(line.decode("ascii")))
        self.events.put(None)

    def send(self, **request):
        self.write(json.dumps(request).encode() + b"\n")

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def event(self, limit=LIMIT):
        return self.events.get(timeout=limit)

    def setup(self, cwd, env, seed=SEED, unset=()):
        self.send(op="setup", n=1, cwd=cwd, env=env, seed=seed, unset=list(unset))
        return self.event()

    def begin(self, code, env=None):
        self.next_id += 1
        self.send(op="run", id=self.next_id, code=code, env=env or {})
        begin = self.until("begin")
        assert begin["id"] == self.next_id, begin
        return begin

    def until(self, name, limit=LIMIT):
        end = time.monotonic() + limit
        while True:
            event = self.event(max(0.01, end - time.monotonic()))
            if event is None or event["event"] == name:
                return event

    def finish(self):
        cell = Cell()
        while True:
            event = self.event()
            if event is None:
                cell.died = True
                return cell
            cell.events.append(event)
            if event["event"] == "end":
                return cell

    def run(self, code, env=None):
        begin = self.begin(code, env)
        cell = self.finish()
        cell.count = begin["count"]
        return cell

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(LIMIT)
        self.process.stdin.close()
        self.process.stdout.close()


class Cell:
    def __init__(self):
        self.events = []
        self.died = False
        self.count = None

    def of(self, name):
        return [event for event in self.events if event["event"] == name]

    @property
    def chunks(self):
        return [event["text"] for event in self.of("out")]

    @property
    def out(self):
        return "".join(self.chunks)

    @property
    def err(self):
        return "".join(event["text"] for event in self.of("err"))

    @property
    def error(self):
        found = self.of("error")
        return found[0] if found else None

    @property
    def text(self):
        found = [event for event in self.of("result") if event["main"]]
        return found[0]["data"]["text/plain"] if found else None


class Case(unittest.TestCase):
    """All share one runner unless they end it: a cell must not hurt the next one."""

    runner = None

    @classmethod
    def tearDownClass(cls):
        if cls.runner is not None:
            cls.runner.close()
            cls.runner = None

    def setUp(self):
        if type(self).runner is None or type(self).runner.process.poll() is not None:
            type(self).runner = Runner()
        self.run_cell = self.runner.run

    def own(self, **options):
        runner = Runner(**options)
        self.addCleanup(runner.close)
        return runner

    def value(self, code, **options):
        cell = self.run_cell(code, **options)
        self.assertIsNone(cell.error, cell.events)
        return cell.text


class SetUpCases:
    """What every runner promises of its set-up, for a test case that names a cell that prints and then never ends."""

    endless = ""

    def test_setup_is_answered_after_the_cell_that_runs(self):
        self.runner.begin(self.endless)
        self.runner.until("out")
        self.runner.send(op="setup", n=42, env={}, unset=[])
        self.runner.interrupt()
        self.runner.finish()
        self.assertEqual(self.runner.until("ready")["n"], 42)

    def test_setup_refuses_a_directory_that_is_not_there(self):
        answer = self.runner.setup("/no/such/place", {})
        self.assertEqual(answer["event"], "refused")
        self.assertIn("/no/such/place", answer["reason"])
        self.assertEqual(self.runner.setup("/tmp", {})["event"], "ready")


def main(command):
    """Runs the tests of the calling file, with the runner that the arguments name, or else this one."""
    COMMAND[:] = sys.argv[1:] or command
    if shutil.which(COMMAND[0]) is None:
        sys.exit("there is no " + COMMAND[0])
    unittest.main(argv=[sys.argv[0]], verbosity=2)
