"""The runner itself: takes requests, runs cells, answers."""

import faulthandler
import os
import queue
import signal
import sys
import threading

from cay_runner.frames import read_requests
from cay_runner.gate import Gate
from cay_runner.output import Outlet, high
from cay_runner.streams import Stream

environ = os.environ
"""Kept, since a cell may put something else under that name."""


def main(warm):
    requests, events, complaints = (high(os.dup(descriptor)) for descriptor in (0, 1, 2))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    faulthandler.enable(complaints, all_threads=False)
    gate = Gate()
    gate.install()
    outlet = Outlet(events, gate)
    sys.stdout = sys.__stdout__ = Stream(outlet, "out", 1)
    sys.stderr = sys.__stderr__ = Stream(outlet, "err", 2)
    runner = Runner(outlet, gate, requests)
    if warm:
        from cay_runner.warm import warm_up

        warm_up()
    outlet.start()
    runner.serve()


class Runner:
    """One context. Everything but the answer to `hello` happens in the main thread, where interrupts arrive."""

    def __init__(self, outlet, gate, requests):
        from cay_runner import imports
        from cay_runner.aio import CellLoop
        from cay_runner.shell import ZMQInteractiveShell

        self._outlet = outlet
        self._gate = gate
        self._source = requests
        self._queue = queue.SimpleQueue()
        self._count = 0
        self._cell_loop = CellLoop(gate)
        self._hooks = imports.install()
        sys.path.insert(0, "")
        sys.argv = [""]
        self._shell = ZMQInteractiveShell.instance(outlet=outlet, cell_loop=self._cell_loop)

    def serve(self):
        threading.Thread(target=self._read, name="cay-requests", daemon=True).start()
        os.register_at_fork(after_in_child=lambda: os.close(self._source))
        while True:
            request = self._cell_loop.take(self._queue)
            try:
                self._answer(request)
            except KeyError:
                pass  # a field is missing: not understood

    def _read(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for request in read_requests(self._source):
            if request.get("op") == "hello":
                self._outlet.event("hello", n=request.get("n"))
            else:
                self._queue.put(request)
                self._cell_loop.wake()
        os._exit(0)  # nobody will ask again

    def _answer(self, request):
        if request.get("op") == "setup":
            self._set_up(request["cwd"], request["env"], request["seed"], request["unset"])
        elif request.get("op") == "run":
            self._run(request["id"], request["code"], request["env"])

    def _set_up(self, cwd, env, seed, unset):
        from cay_runner.imports import reseed

        try:
            os.chdir(cwd)
        except OSError as problem:
            self._outlet.event("refused", reason=f"cannot go to {cwd}: {problem.strerror}")
            return
        for name in unset:
            environ.pop(name, None)
        environ.update(env)
        reseed(self._hooks, seed)
        self._outlet.event("ready")

    def _run(self, number, code, env):
        self._count += 1
        self._outlet.mend()
        self._gate.install()
        before = {name: environ.get(name) for name in env}
        try:
            try:
                self._gate.running = True  # from now on, as the node may interrupt as soon as it reads `begin`
                self._outlet.event("begin", id=number, count=self._count)
                environ.update(env)
                self._shell.run(code, self._count)
            finally:
                self._gate.running = False
        except BaseException as problem:
            self._shell.report(problem)
        if self._outlet.forked:
            self._leave_child()
        _put_back(before)
        self._outlet.settle()
        self._outlet.event("end", id=number)

    def _leave_child(self):
        """A child the cell forked has run to the end of it: only its parent goes on to further cells."""
        problem = getattr(self._shell.last_execution_result, "error_in_exec", None)
        code = 0 if problem is None else 1
        if isinstance(problem, SystemExit) and (problem.code is None or isinstance(problem.code, int)):
            code = problem.code or 0
        os._exit(code & 0xFF)


def _put_back(values):
    for name, value in values.items():
        if value is None:
            environ.pop(name, None)
        else:
            environ[name] = value
