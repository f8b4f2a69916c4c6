"""What a matplotlib figure shows, as data: the type of chart is told by the artists drawn into its axes."""

import warnings

from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle, Wedge
from matplotlib.text import Text

from cay_runner.charts.axis import is_guide, text_or_none
from cay_runner.charts.bars import bar_chart
from cay_runner.charts.boxes import box_chart
from cay_runner.charts.lines import line_chart, scatter_chart
from cay_runner.charts.pies import pie_chart


def figure_chart(figure):
    """The chart of a figure; an empty dict when nothing is drawn in it."""
    if not any(axes.has_data() for axes in figure.axes):
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the picture of the same figure has told them already
        figure.draw_without_rendering()  # tick labels have no text before
    charts = [_axes_chart(axes) for axes in figure.axes]
    if len(charts) == 1:
        return charts[0]
    title = getattr(figure, "_suptitle", None)
    return {"type": "superchart", "title": text_or_none(title.get_text() if title else ""), "elements": charts}


def _axes_chart(axes):
    kind, extract = _kind(axes)
    return {"type": kind, "title": text_or_none(axes.get_title()), **extract(axes)}


def _kind(axes):
    artists = [artist for artist in axes._children if not isinstance(artist, Text)]
    if _all(artists, Line2D):
        return "line", line_chart
    if _all(artists, (PathPatch, Line2D)):
        return "box_and_whisker", box_chart
    artists = [artist for artist in artists if not is_guide(artist)]
    for classes, kind, extract in _BY_ARTIST:
        if _all(artists, classes):
            return kind, extract
    return "unknown", lambda _: {"elements": []}


_BY_ARTIST = (
    (PathCollection, "scatter", scatter_chart),
    (Wedge, "pie", pie_chart),
    (Rectangle, "bar", bar_chart),
)


def _all(artists, classes):
    return all(isinstance(artist, classes) for artist in artists)
