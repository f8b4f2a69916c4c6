"""Bar charts."""

import re

from matplotlib.container import BarContainer

from cay_runner.charts.axis import MAX_POINTS, label_at, label_fields, value


def bar_chart(axes):
    """One element for each bar; bars that lie are read along the other axis."""
    bars = [container for container in axes.containers if isinstance(container, BarContainer)]
    lying = bool(bars) and all(_lies(container) for container in bars)
    elements = []
    for container in bars:
        group = re.sub(r"^_container(\d+)$", r"Group \1", str(container.get_label()))
        for rectangle in container.patches:
            if len(elements) < MAX_POINTS:
                label, length = _label(axes, rectangle, lying), _length(rectangle, lying)
                elements.append({"label": label, "group": group, "value": length})
    return {**label_fields(axes, swapped=lying), "elements": elements}


def _lies(container):
    """Matplotlib remembers it; for bars made by hand equal heights tell it."""
    if container.orientation is not None:
        return container.orientation == "horizontal"
    return len({rectangle.get_height() for rectangle in container.patches}) == 1


def _label(axes, rectangle, lying):
    if lying:
        return label_at(axes.yaxis, rectangle.get_y() + rectangle.get_height() / 2)
    return label_at(axes.xaxis, rectangle.get_x() + rectangle.get_width() / 2)


def _length(rectangle, lying):
    return value(rectangle.get_width() if lying else rectangle.get_height())
