"""Pie charts."""

from matplotlib.patches import Wedge

from cay_runner.charts.axis import value


def pie_chart(axes):
    """Angles are rounded to four places: matplotlib reckons them with single precision."""
    elements = [
        {"label": str(wedge.get_label()), "angle": _angle(wedge), "radius": value(wedge.r)}
        for wedge in axes.patches
        if isinstance(wedge, Wedge)
    ]
    return {"elements": elements}


def _angle(wedge):
    angle = round(abs(float(wedge.theta2) - float(wedge.theta1)), 4)
    return int(angle) if angle.is_integer() else angle
