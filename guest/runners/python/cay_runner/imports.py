"""Set-up of libraries at the moment a cell first imports them, so that a start does not pay for what nobody uses."""

import importlib.abc
import os
import random
import subprocess
import sys
import tempfile


class ImportHooks(importlib.abc.MetaPathFinder):
    """Runs an action once after a module was loaded."""

    def __init__(self):
        self._actions = {}

    def after(self, name, action):
        module = sys.modules.get(name)
        if module is None:
            self._actions[name] = action
        else:
            _guarded(action, module)

    def find_spec(self, name, path=None, target=None):
        action = self._actions.get(name)
        if action is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                self._attach(spec, action)
                return spec
        return None

    def _attach(self, spec, action):
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self._actions.pop(spec.name, None)
            _guarded(action, module)

        spec.loader.exec_module = exec_module


def _guarded(action, module):
    try:
        action(module)
    except Exception as problem:  # a version we do not know: the import itself went well
        print(f"cay: {module.__name__} was not set up: {problem}", file=sys.__stderr__)


def _system(command):
    """In the place of `os.system`, which makes its caller deaf to interrupts while the command runs."""
    code = subprocess.Popen(command, shell=True).wait()
    return code << 8 if code >= 0 else -code


def install():
    os.system = _system
    hooks = ImportHooks()
    sys.meta_path.insert(0, hooks)
    hooks.after("matplotlib", _set_up_matplotlib)
    hooks.after("pandas", _set_up_pandas)
    hooks.after("PIL.Image", _set_up_pillow)
    return hooks


def reseed(hooks, seed):
    """Seeds the generators that restored copies of one process would otherwise share, now or when they are loaded."""
    random.seed(int(seed, 16))
    tempfile._name_sequence = None
    words = [int(seed[start : start + 8], 16) for start in range(0, len(seed), 8)]
    hooks.after("numpy.random", lambda module: module.seed(words))
    # OpenSSL notices a fork, but not that it was restored. The kernel's numbers, as the seed is no secret to the runner.
    hooks.after("ssl", lambda module: module.RAND_add(os.urandom(48), 48.0))


def _set_up_matplotlib(matplotlib):
    if not os.environ.get("MPLBACKEND"):
        matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"


def _set_up_pandas(pandas):
    pandas.set_option("display.max_columns", 20)  # what it takes in notebooks; it believes in a terminal here


def _set_up_pillow(module):
    """`show` and `save` to a path publish the picture; no viewer is started."""
    from IPython.display import display

    image_class = module.Image
    original = image_class.save

    def show(self, title=None, command=None):
        display(self)

    def save(self, fp, format=None, **params):
        original(self, fp, format, **params)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if isinstance(fp, str) and caller.partition(".")[0] not in ("matplotlib", "PIL"):
            display(self)

    save.__doc__ = original.__doc__
    image_class.show = show
    image_class.save = save
