"""The event loop of a context: kept from cell to cell, and run between cells too once it is used."""

import ast
import asyncio
import queue

from IPython.core import async_helpers

CANCEL_SECONDS = 1
"""How long an interrupted cell may take to clean up behind the `await` it was interrupted in."""

_NEEDS_LOOP = frozenset({"create_task", "get_running_loop"})


class CellLoop:
    """Runs cells that await. Cells that do not run outside of any loop, so that `asyncio.run` works in them."""

    def __init__(self, gate):
        self._gate = gate
        self._used = False
        self._woken = None
        self.interrupted = False
        """True while a cell that was interrupted in an `await` is unwound."""

    def __str__(self):
        return "asyncio"

    def __call__(self, coroutine):
        """Runs a cell's coroutine; IPython's `loop_runner`."""
        loop = self._loop()
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except KeyboardInterrupt:
            if not task.done():
                self._unwind(loop, task)
            raise

    def prepare(self):
        """Makes the kept loop the current one again, since `asyncio.run` in a cell takes it away."""
        if self._used:
            asyncio.set_event_loop(self._loop())

    def take(self, requests):
        """The next request; tasks that cells left behind go on while there is none."""
        if not self._used:
            return requests.get()
        try:
            return requests.get_nowait()
        except queue.Empty:
            pass
        waiter = None
        try:
            loop = self._loop()
            waiter = loop.create_task(self._wait(requests))
            self._gate.wanted = lambda: not requests.empty()
            loop.run_until_complete(waiter)
        except BaseException as problem:  # a task that was left behind must not end the runner
            if waiter is not None and not waiter.done():
                waiter.cancel()
            if not isinstance(problem, (KeyboardInterrupt, SystemExit)):
                asyncio.set_event_loop(None)
                self._used = False
        finally:
            self._gate.wanted = None
            self._woken = None
        return requests.get()

    def wake(self):
        """Called by the reading thread after it put a request."""
        woken = self._woken
        if woken is not None:
            try:
                woken()
            except RuntimeError:
                pass  # the loop was closed by a cell: nobody waits on it

    def _loop(self):
        loop = async_helpers.get_asyncio_loop()
        if not self._used:
            self._used = True
            asyncio.set_event_loop(loop)
        return loop

    def _unwind(self, loop, task):
        self.interrupted = True
        try:
            task.cancel()
            loop.run_until_complete(asyncio.wait({task}, timeout=CANCEL_SECONDS))
            if task.done() and not task.cancelled():
                task.exception()
        finally:
            self.interrupted = False

    async def _wait(self, requests):
        arrived = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._woken = lambda: loop.call_soon_threadsafe(arrived.set)
        while requests.empty():
            await arrived.wait()
            arrived.clear()


def wants_loop(cell):
    """Whether a cell without `await` asks for the running loop outside of its functions, as notebooks allow."""
    if not any(name in cell for name in _NEEDS_LOOP):
        return False
    try:
        pending = list(ast.parse(cell).body)
    except (SyntaxError, ValueError, RecursionError):
        return False
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            if name in _NEEDS_LOOP:
                return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False
