"""Decides what an interrupt (SIGINT) does: it ends the cell that runs, and is nothing at any other time."""

import os
import select
import signal
import socket
import threading
from time import sleep

from cay_runner.descriptors import high

PATIENCE_SECONDS = 0.02
"""How long an interrupt may stay unnoticed before it is sent again."""


class Gate:
    """The fields change in the main thread only, where Python runs signal handlers too, so they need no lock.

    A signal that arrives after Python last looked for one, but before the system call it is about to make, would be
    noticed only when that call returns, which for a long sleep is never. So the handler of the C level rings a bell,
    the one here takes the ringing back, and a thread repeats an interrupt whose ringing goes on.
    """

    def __init__(self):
        self.running = False
        """A cell runs: an interrupt is for it."""
        self.wanted = None
        """Set while the event loop idles between cells: tells whether a request waits behind what it does."""
        self._held = 0
        self._pending = False
        self._main = threading.main_thread().ident
        self._heard, self._bell = (socket.socket(fileno=high(end.detach())) for end in socket.socketpair())
        self._heard.setblocking(False)
        self._bell.setblocking(False)

    def start(self):
        threading.Thread(target=self._insist, name="cay-interrupts", daemon=True).start()
        os.register_at_fork(after_in_child=self._after_fork)

    def install(self):
        """Takes SIGINT; before every cell, because a cell may have taken it away.

        The bell may ring for the cell before: a child that was just forked has it too and hears what we have heard.
        """
        self._pending = False
        self._silence()
        signal.signal(signal.SIGINT, self._on_interrupt)
        signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)

    def _on_interrupt(self, _signal, _frame):
        self._silence()
        if not self.running and not (self.wanted and self.wanted()):
            return
        if self._held:
            self._pending = True
        else:
            raise KeyboardInterrupt

    def __enter__(self):
        """Holds interrupts back for the few steps between which printed text would be lost."""
        if threading.get_ident() == self._main:
            self._held += 1
        return self

    def __exit__(self, *_):
        if threading.get_ident() == self._main:
            self._held -= 1
            if self._pending and not self._held:
                self._pending = False
                if self.running:
                    raise KeyboardInterrupt

    def _silence(self, count=4096):
        try:
            self._heard.recv(count)
        except OSError:
            pass

    def _insist(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        poller = select.poll()
        poller.register(self._heard.fileno(), select.POLLIN)
        while True:
            poller.poll()
            if not self._is_ours():
                continue
            sleep(PATIENCE_SECONDS)
            if self.running and self._is_ours():
                signal.pthread_kill(self._main, signal.SIGINT)

    def _is_ours(self):
        """Whether an interrupt rings that our handler has yet to see; all other ringing ends here."""
        try:
            rung = self._heard.recv(4096, socket.MSG_PEEK)
        except OSError:
            return False
        if signal.SIGINT in rung and self.running and signal.getsignal(signal.SIGINT) == self._on_interrupt:
            return True
        self._silence(len(rung))
        return False

    def _after_fork(self):
        """A child's signals are its own."""
        signal.set_wakeup_fd(-1)
        self._heard.close()
        self._bell.close()
