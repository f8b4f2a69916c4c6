"""Commands of a cell (`!pwd`, `x = !ls`), run in a pseudo-terminal so that they print as people expect."""

import codecs
import fcntl
import os
import select
import signal
import subprocess
import termios
import time

GRACE_SECONDS = 1
"""What an interrupted command may take to end before it is killed."""


def run(command, write, gate):
    """Runs a shell command, gives what it prints to `write`, and returns its exit code (negative for a signal).

    Interrupts are held back while it starts: Python drops what is raised in the functions that it calls around a fork.
    """
    try:
        master, slave = os.openpty()
    except OSError:  # no terminals here: a pipe must do
        master, slave = os.pipe()
    child = None
    try:
        try:
            with gate:
                _plain_newlines(slave)
                child = _start(command, slave)
        finally:
            os.close(slave)
        _copy(master, child, write)
        return child.wait()
    except BaseException:
        if child:
            _stop(child)
        raise
    finally:
        os.close(master)


def run_in_background(command):
    """Starts a command that ends in `&`; what it prints is output of the cells that run meanwhile."""
    subprocess.Popen([_shell(), "-c", command], stdin=subprocess.DEVNULL, start_new_session=True).wait()


def _start(command, slave):
    return subprocess.Popen(
        [_shell(), "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )


def _shell():
    shell = os.environ.get("SHELL", "")
    return shell if os.path.isabs(shell) and os.access(shell, os.X_OK) else "/bin/sh"


def _take_terminal():
    try:
        fcntl.ioctl(1, termios.TIOCSCTTY, 0)
    except OSError:
        pass  # a pipe


def _plain_newlines(slave):
    try:
        settings = termios.tcgetattr(slave)
    except termios.error:
        return
    settings[1] &= ~termios.ONLCR
    termios.tcsetattr(slave, termios.TCSANOW, settings)


def _copy(master, child, write):
    """Copies until the command ended and all it wrote was read; its children in the background are not waited for."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    poller = select.poll()
    poller.register(master, select.POLLIN)
    pause = 1
    while True:
        ended = child.poll() is not None
        ready = poller.poll(0 if ended else pause)
        if not ready and ended:
            break
        if not ready:
            pause = min(pause * 2, 50)
            continue
        pause = 1
        try:
            chunk = os.read(master, 1 << 16)
        except OSError:  # the last of the terminal's users is gone
            chunk = b""
        if not chunk:
            break
        write(decoder.decode(chunk))
    write(decoder.decode(b"", final=True))


def _stop(child):
    limit = time.monotonic() + GRACE_SECONDS
    _signal(child, signal.SIGINT)
    while child.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    if child.poll() is None:
        _signal(child, signal.SIGKILL)
        child.wait()


def _signal(child, number):
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass
