"""Loads what cells usually want, for a runner that is saved once and restored for every sandbox."""

import gc
import importlib
import io
import sys

_MODULES = ("numpy", "pandas", "matplotlib.pyplot", "PIL.Image", "PIL.PngImagePlugin")


def warm_up():
    """A library the template does not have is passed over."""
    for name in _MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    try:
        _draw()
    except ImportError:
        pass
    _close_fonts()
    gc.collect()
    gc.freeze()  # what was loaded stays out of later collections, and its pages shared


def _draw():
    """One figure with a title and a legend: fonts are searched, the cache is written, the renderer is loaded."""
    from matplotlib import pyplot

    from cay_runner.charts import figure_chart

    figure, axes = pyplot.subplots()
    axes.plot([1, 2, 3], label="warm")
    axes.set_title("warm")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png", bbox_inches="tight")
    figure_chart(figure)
    pyplot.close(figure)


def _close_fonts():
    """Fonts keep their files open; a saved process should hold none."""
    manager = sys.modules.get("matplotlib.font_manager")
    cached = getattr(manager, "_get_font", None)
    if hasattr(cached, "cache_clear"):
        cached.cache_clear()
