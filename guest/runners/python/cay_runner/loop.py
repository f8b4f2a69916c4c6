"""The runner itself: takes requests, runs cells, answers."""

import faulthandler
import os
import queue
import signal
import sys
import threading
import time
import traceback
from os import _exit

from cay_runner.descriptors import high
from cay_runner.frames import read_requests
from cay_runner.gate import Gate
from cay_runner.output import Outlet
from cay_runner.streams import Stream

environ = os.environ
"""Kept, since a cell may put something else under that name."""


def main(warm):
    """Moves the pipes to the node out of reach, then serves until they close. Never returns."""
    requests, events, complaints = (high(os.dup(descriptor)) for descriptor in (0, 1, 2))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    faulthandler.enable(complaints, all_threads=False)
    try:
        gate = Gate()
        gate.install()
        outlet = Outlet(events, gate)
        os._exit = outlet.exit
        sys.stdout = sys.__stdout__ = Stream(outlet, "out", 1)
        sys.stderr = sys.__stderr__ = Stream(outlet, "err", 2)
        runner = Runner(outlet, gate, requests)
        if warm:
            from cay_runner.warm import warm_up

            warm_up()
        gate.start()
        outlet.start()
        runner.serve()
    except BaseException:
        os.write(complaints, traceback.format_exc().encode("utf-8", "replace"))
    _exit(1)


class Runner:
    """One context. Everything happens in the main thread, where interrupts arrive."""

    def __init__(self, outlet, gate, requests):
        from cay_runner import imports
        from cay_runner.light import light_ipython

        self._outlet = outlet
        self._gate = gate
        self._source = requests
        self._queue = queue.SimpleQueue()
        self._count = 0
        self._hooks = imports.install()
        with light_ipython():
            from cay_runner import newer
            from cay_runner.aio import CellLoop
            from cay_runner.shell import ZMQInteractiveShell

            newer.install()
            self._cell_loop = CellLoop(gate)
            self._shell = ZMQInteractiveShell.instance(outlet=outlet, cell_loop=self._cell_loop, gate=gate)
        sys.path.insert(0, "")  # only now, that no file of the user is taken for a module we need
        sys.argv = [""]

    def serve(self):
        threading.Thread(target=self._read, name="cay-requests", daemon=True).start()
        os.register_at_fork(after_in_child=lambda: os.close(self._source))
        while True:
            request = self._cell_loop.take(self._queue)
            if _matches(request, _SET_UP):
                self._set_up(**_fields(request, _SET_UP), **_fields(request, _SET_UP_ALSO))
            elif _matches(request, _RUN):
                self._run(**_fields(request, _RUN))

    def _read(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            for request in read_requests(self._source):
                self._queue.put(request)
                self._cell_loop.wake()
        finally:
            _exit(0)  # nobody will ask again

    def _set_up(self, n, env, unset, cwd=None, seed=None):
        from cay_runner.imports import reseed

        try:
            for name in unset:
                environ.pop(name, None)
            environ.update(env)
            time.tzset()
            if seed:
                reseed(self._hooks, seed)
            if cwd:
                os.chdir(cwd)
        except OSError as problem:
            self._outlet.event("refused", n=n, reason=f"cannot go to {cwd}: {problem.strerror}")
        except (ValueError, TypeError) as problem:
            self._outlet.event("refused", n=n, reason=f"cannot set this up: {problem}")
        else:
            self._outlet.event("ready", n=n)

    def _run(self, id, code, env):
        self._count += 1
        self._outlet.mend()
        self._gate.install()
        self._shell.error_sent = False
        before = {name: environ.get(name) for name in env}
        try:
            try:
                self._gate.running = True  # from now on, as the node may interrupt as soon as it reads `begin`
                self._outlet.event("begin", id=id, count=self._count)
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
        self._outlet.event("end", id=id)

    def _leave_child(self):
        """A child the cell forked has run to the end of it: only its parent goes on to further cells."""
        problem = getattr(self._shell.last_execution_result, "error_in_exec", None)
        code = 0 if problem is None else 1
        if isinstance(problem, SystemExit) and (problem.code is None or isinstance(problem.code, int)):
            code = problem.code or 0
        self._outlet.exit(code & 0xFF)


_SET_UP = {"op": "setup", "n": int, "env": dict, "unset": list}
_SET_UP_ALSO = {"cwd": str, "seed": str}
_RUN = {"op": "run", "id": int, "code": str, "env": dict}


def _matches(request, form):
    """Whether a request is of that form; others are ignored."""
    if request.get("op") != form["op"] or any(not isinstance(request.get(name), form[name]) for name in list(form)[1:]):
        return False
    return all(isinstance(value, str) for value in request["env"].values())


def _fields(request, form):
    """Those that are there and of the right kind, without the one that says which request it is."""
    return {name: request[name] for name in form if name != "op" and isinstance(request.get(name), form[name])}


def _put_back(values):
    """Also into what a cell has put in the place of `os.environ`, if that takes it."""
    for mapping in (environ, os.environ):
        for name, value in values.items():
            try:
                if value is None:
                    mapping.pop(name, None)
                else:
                    mapping[name] = value
            except Exception:
                continue
