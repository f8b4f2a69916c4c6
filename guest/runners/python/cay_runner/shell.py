"""IPython's shell, set up for cells that come and go through pipes."""

import ast
import asyncio
import linecache
import sys
import tempfile
import traceback
import warnings

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.utils.text import LSString, SList
from traitlets.config import Config

from cay_runner import formats, terminal
from cay_runner.aio import wants_loop
from cay_runner.bundle import result_line

MAX_ERROR_CHARS = 1 << 20
"""What an error's message and traceback may have each; the middle of longer ones is cut out."""

BIG_CELL = 256 << 10
"""From this size on a cell that is plain Python skips IPython's own reading of it, which takes seconds per megabyte."""


class Compiler(CachingCompiler):
    """Forgets the text of big cells, since a traceback through one would read all of it again."""

    def cache(self, transformed_code, number=0, raw_code=None):
        name = super().cache(transformed_code, number, raw_code)
        if len(transformed_code) > BIG_CELL:
            for known in (linecache.cache, getattr(linecache, "_ipython_cache", {})):
                known.pop(name, None)
        return name


class Hook(DisplayHook):
    """Sends the cell's last expression."""

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.publish(True, format_dict)

    def log_output(self, format_dict):
        pass

    def quiet(self):
        cell = self.shell.history_manager.input_hist_parsed[-1]
        if ";" not in cell:
            return False
        return cell.rstrip().endswith(";") if len(cell) > BIG_CELL else super().quiet()


class Publisher(DisplayPublisher):
    """Sends what `display` shows. An update of something shown before has no event and is dropped."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        if not update:
            self.shell.publish(False, data)

    def clear_output(self, wait=False):
        pass


class _Profile(ProfileDir):
    """IPython wants a directory for itself; it gets one without the usual files in it."""

    def _no_directory(self, change=None):
        pass

    check_dirs = check_log_dir = check_security_dir = check_pid_dir = _no_directory
    check_startup_dir = check_static_dir = _no_directory


class ZMQInteractiveShell(InteractiveShell):
    """Bears the name of a notebook's shell, because pandas, rich and others tell a notebook from a terminal by it."""

    def __init__(self, outlet, cell_loop, gate):
        self._outlet = outlet
        self._cell_loop = cell_loop
        self._gate = gate
        self.error_sent = False
        """Whether the cell that runs has had its one error."""
        super().__init__(
            config=_config(),
            displayhook_class=Hook,
            display_pub_class=Publisher,
            compiler_class=Compiler,
        )
        self.loop_runner = cell_loop
        self.set_hook("show_in_pager", _print_page, 99)
        formats.register(self)
        for message in ("To exit: use 'exit', 'quit'", "Output cache limit"):
            warnings.filterwarnings("ignore", message=message)

    def init_ipython_dir(self, ipython_dir):
        self.ipython_dir = tempfile.gettempdir() + "/.ipython"

    def init_profile_dir(self, profile_dir):
        self.profile_dir = _Profile(location=self.ipython_dir)

    def run(self, code, count):
        """Runs one cell; all that comes of it goes out as events."""
        self.execution_count = count
        self._cell_loop.prepare()
        outcome = self.run_cell(code, store_history=True)
        problem = outcome.error_before_exec or outcome.error_in_exec
        if problem is not None and not self.error_sent and not isinstance(problem, UsageError):
            self.report(problem)

    def report(self, problem):
        """Sends an error without IPython's help, for when that was not enough."""
        if isinstance(problem, KeyboardInterrupt):
            problem = problem.with_traceback(None)  # it struck in code of ours
        parts = traceback.format_exception(type(problem), problem, problem.__traceback__)
        self._showtraceback(type(problem), problem, parts)

    def publish(self, main, data):
        line = result_line(main, data)
        if line is not None:
            self._outlet.line(line, wait=True)

    def transform_cell(self, raw_cell):
        if len(raw_cell) > BIG_CELL:
            try:
                ast.parse(raw_cell)
                return raw_cell
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass
        return super().transform_cell(raw_cell)

    def should_run_async(self, raw_cell, *, transformed_cell=None, preprocessing_exc_tuple=None):
        asked = super().should_run_async(
            raw_cell, transformed_cell=transformed_cell, preprocessing_exc_tuple=preprocessing_exc_tuple
        )
        return asked or (preprocessing_exc_tuple is None and self.autoawait and wants_loop(transformed_cell))

    def showtraceback(self, exc_tuple=None, *args, **kwargs):
        kind, problem, trace = exc_tuple or sys.exc_info()
        if self._cell_loop.interrupted and kind is asyncio.CancelledError:
            problem = KeyboardInterrupt().with_traceback(trace)
            exc_tuple = (KeyboardInterrupt, problem, trace)
        if isinstance(problem, KeyboardInterrupt):
            _leave_out_our_own(trace)
        super().showtraceback(exc_tuple, *args, **kwargs)

    def _showtraceback(self, etype, evalue, stb):
        text = stb if isinstance(stb, str) else "".join(stb)
        if self._outlet.forked or self.error_sent:
            print(text if isinstance(stb, str) else "\n".join(stb), file=sys.stderr)
            return
        self.error_sent = True
        try:
            value = str(evalue)
        except BaseException as problem:
            value = f"<no message: its __str__ raised {type(problem).__name__}>"
        self._outlet.event("error", name=etype.__name__, value=_shorten(value), traceback=_shorten(text))

    def system(self, cmd):
        command = self.var_expand(cmd, depth=1)
        if command.rstrip().endswith("&"):
            terminal.run_in_background(command)
        else:
            self.user_ns["_exit_code"] = terminal.run(command, sys.stdout.write, self._gate)

    def getoutput(self, cmd, split=True, depth=0):
        pieces = []
        terminal.run(self.var_expand(cmd, depth=depth + 1), pieces.append, self._gate)
        output = "".join(pieces)
        return SList(output.splitlines()) if split else LSString(output)

    def enable_gui(self, gui=None):
        """Nothing to do: figures are inline, and there is no screen."""

    def ask_exit(self):
        raise SystemExit


def _config():
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.color_info = False
    config.PlainTextFormatter.max_seq_length = 0
    return config


def _print_page(_shell, data, start=0, screen_lines=0, pager_cmd=None):
    """Help and long listings are printed: nobody is there to leaf through a pager."""
    print(data["text/plain"] if isinstance(data, dict) else data)


def _leave_out_our_own(trace):
    """Cuts our signal handler off the end of a traceback."""
    while trace is not None and trace.tb_next is not None:
        if trace.tb_next.tb_frame.f_globals.get("__package__") == __package__:
            trace.tb_next = None
        trace = trace.tb_next


def _shorten(text):
    if len(text) <= MAX_ERROR_CHARS:
        return text
    half = MAX_ERROR_CHARS // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
