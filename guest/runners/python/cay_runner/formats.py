"""Display formatters beside IPython's own: JSON of lists and dicts, data of frames, charts of figures, pictures.

IPython asks every formatter about every value shown, so each looks only at modules that are loaded already.
"""

import io
import sys

from IPython.core.formatters import BaseFormatter, JSONFormatter
from traitlets import ObjectName, Unicode

from cay_runner.data import frame_data


class _Json(JSONFormatter):
    """Lists and dicts are their own JSON; those that have none lose it again when the result is written."""

    def __call__(self, obj):
        if isinstance(obj, (list, dict)) and not hasattr(obj, "_repr_json_"):
            return obj
        return super().__call__(obj)


class _Data(BaseFormatter):
    format_type = Unicode("e2b/data")
    print_method = ObjectName("_repr_e2b_data_")

    def __call__(self, obj):
        pandas = sys.modules.get("pandas")
        if not isinstance(obj, getattr(pandas, "DataFrame", ())):
            return None
        try:
            return frame_data(obj)
        except Exception:
            return None


class _Chart(BaseFormatter):
    format_type = Unicode("e2b/chart")
    print_method = ObjectName("_repr_e2b_chart_")

    def __call__(self, obj):
        figures = sys.modules.get("matplotlib.figure")
        if not isinstance(obj, getattr(figures, "Figure", ())):
            return None
        try:
            from cay_runner.charts import figure_chart

            return figure_chart(obj)
        except Exception:
            return {}


def register(shell):
    formatters = shell.display_formatter.formatters
    for kind in (_Json, _Data, _Chart):
        formatter = kind(parent=shell.display_formatter)
        formatters[formatter.format_type] = formatter
    formatters["image/png"].for_type_by_name("PIL.Image", "Image", picture_png)


def picture_png(image):
    """PNG of a Pillow image; those in a mode PNG does not know are converted."""
    for mode in (None, "RGBA", "RGB", "L"):
        try:
            target = io.BytesIO()
            (image if mode is None else image.convert(mode)).save(target, "PNG")
            return target.getvalue()
        except (OSError, ValueError):
            continue
    return None
