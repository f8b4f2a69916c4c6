"""Charts of points: lines and scatters."""

import re

from matplotlib.collections import PathCollection

from cay_runner.charts.axis import axes_fields, is_dated, is_guide, moment, number, thinned, values


def line_chart(axes):
    elements = []
    for line in axes.get_lines():
        if is_guide(line):
            continue
        pairs = thinned(list(zip(line.get_xdata(), line.get_ydata())))
        xs, ys = zip(*pairs) if pairs else ((), ())
        label = re.sub(r"^_child(\d+)$", r"Line \1", str(line.get_label()))
        elements.append({"label": label, "points": [list(pair) for pair in zip(values(xs), values(ys))]})
    return {**axes_fields(axes), "elements": elements}


def scatter_chart(axes):
    to_x, to_y = (moment if is_dated(axis) else number for axis in (axes.xaxis, axes.yaxis))
    elements = []
    for dots in axes.collections:
        if isinstance(dots, PathCollection):
            points = [[to_x(x), to_y(y)] for x, y in thinned(dots.get_offsets())]
            elements.append({"label": str(dots.get_label()), "points": points})
    return {**axes_fields(axes), "elements": elements}
