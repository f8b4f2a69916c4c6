"""Imports IPython without its terminal and its completion engine: nobody types here, and they cost half the start."""

import contextlib
import sys
import types


@contextlib.contextmanager
def light_ipython():
    """IPython must be imported, and the shell made, in here. What is left out can still be imported by cells."""
    stand_in = types.ModuleType("IPython.terminal.embed")
    stand_in.embed = _embed
    sys.modules["IPython.terminal.embed"] = stand_in
    sys.modules["jedi"] = None
    try:
        yield
    finally:
        del sys.modules["IPython.terminal.embed"]
        del sys.modules["jedi"]


def _embed(*arguments, **options):
    from IPython.terminal.embed import embed

    return embed(*arguments, **options)
