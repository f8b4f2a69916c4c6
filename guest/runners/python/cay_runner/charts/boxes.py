"""Box plots, read back from the lines that matplotlib draws around each box."""

import numpy
from matplotlib.patches import PathPatch

from cay_runner.charts.axis import label_at, label_fields, number


def box_chart(axes):
    boxes = [patch.get_path().vertices for patch in axes.patches if isinstance(patch, PathPatch)]
    lines = [_Line(line) for line in axes.get_lines()]
    lying = _lie(boxes, lines)
    along = 0 if lying else 1
    elements = [_element(axes, _Box(vertices, along), lines) for vertices in boxes]
    return {**label_fields(axes, swapped=lying), "elements": [element for element in elements if element]}


class _Line:
    """Points of a drawn line as an array, in numbers."""

    def __init__(self, line):
        self.points = numpy.asarray(line.get_xydata(), dtype=float)
        self.is_drawn = line.get_linestyle() not in ("None", "none", "", " ")


class _Box:
    """`along` is the axis of the values, `across` that of the labels."""

    def __init__(self, vertices, along):
        self.along, self.across = along, 1 - along
        self.left, self.right = vertices[:, self.across].min(), vertices[:, self.across].max()
        self.center = (self.left + self.right) / 2
        rim = numpy.isclose(vertices[:, self.across], self.left) | numpy.isclose(vertices[:, self.across], self.right)
        self.low, self.high = vertices[rim, along].min(), vertices[rim, along].max()

    def whiskers(self, lines):
        """Ends of the lines that touch the box from below and from above; the box itself where there are none."""
        low, high = self.low, self.high
        for line in lines:
            if not line.is_drawn or len(line.points) != 2 or not self._is_centered(line):
                continue
            ends = sorted(line.points[:, self.along])
            if numpy.isclose(ends[1], self.low):
                low = min(low, ends[0])
            if numpy.isclose(ends[0], self.high):
                high = max(high, ends[1])
        return low, high

    def median(self, lines):
        """The widest flat line inside; the caps of short whiskers are narrower, or were drawn before it."""
        found, width = None, 0
        for line in lines:
            if not line.is_drawn or len(line.points) != 2:
                continue
            (across, other), (level, same) = line.points[:, self.across], line.points[:, self.along]
            slack = 1e-9 * max(abs(self.left), abs(self.right), 1)
            within = min(across, other) >= self.left - slack and max(across, other) <= self.right + slack
            flat = level == same and self.low <= level <= self.high
            if within and flat and abs(across - other) >= width - slack:
                found, width = level, abs(across - other)
        return found

    def outliers(self, lines, low, high):
        """Marks beyond the whiskers; of several sets at this place the one drawn last."""
        found = []
        for line in lines:
            if not line.is_drawn and len(line.points) and self._is_centered(line):
                beyond = [place for place in line.points[:, self.along] if place < low or place > high]
                found = beyond or found
        return found

    def _is_centered(self, line):
        return bool(numpy.isclose(line.points[:, self.across], self.center).all())


def _lie(boxes, lines):
    """Told by the whiskers that touch the boxes; without any, boxes of equal height lie."""
    reach = []
    for along in (0, 1):
        whiskers = [(box, box.whiskers(lines)) for box in (_Box(vertices, along) for vertices in boxes)]
        reach.append(sum((low < box.low) + (high > box.high) for box, (low, high) in whiskers))
    if reach[0] != reach[1]:
        return reach[0] > reach[1]
    return len(boxes) > 1 and len({round(float(numpy.ptp(vertices[:, 1])), 8) for vertices in boxes}) == 1


def _element(axes, box, lines):
    median = box.median(lines)
    if median is None:
        return None
    low, high = box.whiskers(lines)
    axis = axes.yaxis if box.along == 0 else axes.xaxis
    return {
        "label": label_at(axis, box.center),
        "min": _rounded(low),
        "first_quartile": _rounded(box.low),
        "median": _rounded(median),
        "third_quartile": _rounded(box.high),
        "max": _rounded(high),
        "outliers": [_rounded(place) for place in box.outliers(lines, low, high)],
    }


def _rounded(place):
    return number(round(float(place), 8))
