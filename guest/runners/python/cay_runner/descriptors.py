"""Places for descriptors of our own."""

import fcntl
import os

_LOWEST = (1000, 200, 20)
"""They lie from here on, out of the way of cells that close or count low ones; the first number that the limit of open
files allows."""


def high(descriptor):
    """Moves a descriptor out of reach, closed in programs that are started."""
    for lowest in _LOWEST:
        try:
            moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError:
            continue
        os.close(descriptor)
        return moved
    raise OSError("the limit of open files is too low for a runner")


def is_open(descriptor):
    try:
        fcntl.fcntl(descriptor, fcntl.F_GETFD)
        return True
    except OSError:
        return False
