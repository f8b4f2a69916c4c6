"""Entry of the Python runner: `python3 runner.py [warm]`, spoken to as ../PROTOCOL.md says.

The modules live in a package that is loaded by its path, so that the runner's directory never appears in `sys.path` and
a user's module called `data` or `shell` is found as if we were not there.
"""

import importlib.util
import os
import sys

LIBRARY = "/opt/cay/python"
"""Where IPython lies for a Python that has none of its own."""


def _clean_path():
    """Python puts the directory of the program first; nothing of the user's is to be found there."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]
    if importlib.util.find_spec("IPython") is None:
        sys.path.append(LIBRARY)


def _load_package():
    home = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cay_runner")
    spec = importlib.util.spec_from_file_location(
        "cay_runner", os.path.join(home, "__init__.py"), submodule_search_locations=[home]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["cay_runner"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _clean_path()
    _load_package()
    from cay_runner.loop import main

    main(warm="warm" in sys.argv[1:])
