"""Decides what an interrupt (SIGINT) does: it ends the cell that runs, and is nothing at any other time."""

import signal
import threading


class Gate:
    """All fields change in the main thread only, where Python runs signal handlers too, so they need no lock."""

    def __init__(self):
        self.running = False
        """A cell runs: an interrupt is for it."""
        self.wanted = None
        """Set while the event loop idles between cells: tells whether a request waits behind what it does."""
        self._held = 0
        self._pending = False
        self._main = threading.main_thread().ident

    def install(self):
        """Takes SIGINT; before every cell, because a cell may have taken it away."""
        self._pending = False
        signal.signal(signal.SIGINT, self._on_interrupt)

    def _on_interrupt(self, _signal, _frame):
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
