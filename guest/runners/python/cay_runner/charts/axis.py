"""Labels, units, ticks and scales of an axes, and single values as JSON has them."""

import datetime
import decimal
import re

import numpy
from matplotlib import dates
from matplotlib.lines import Line2D

from cay_runner.plain import NotPlain, scalar

MAX_POINTS = 50_000
"""Points that one element of a chart may have; longer ones are thinned out evenly, first and last point stay."""

_UNIT = re.compile(r"\s\((.*?)\)|\[(.*?)\]")


def text_or_none(text):
    return text or None


def unit(label):
    match = _UNIT.search(label)
    return text_or_none(match[1] if match[1] is not None else match[2]) if match else None


def label_fields(axes, swapped=False):
    """Labels and units of both axes, exchanged for a chart that lies on its side."""
    x, y = axes.get_xlabel(), axes.get_ylabel()
    if swapped:
        x, y = y, x
    return {"x_label": text_or_none(x), "y_label": text_or_none(y), "x_unit": unit(x), "y_unit": unit(y)}


def axes_fields(axes):
    """All that line and scatter charts tell of their axes."""
    fields = label_fields(axes)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        fields[f"{name}_ticks"] = ticks(axis)
        fields[f"{name}_tick_labels"] = tick_labels(axis)
        fields[f"{name}_scale"] = scale(axis)
    return fields


def ticks(axis):
    places = axis.get_majorticklocs()
    return [moment(place) for place in places] if is_dated(axis) else [number(place) for place in places]


def tick_labels(axis):
    return [label.get_text() for label in axis.get_majorticklabels()]


def scale(axis):
    if is_dated(axis):
        return "datetime"
    name = axis.get_scale()
    return "categorical" if name == "linear" and _is_categorical(axis) else name


def is_dated(axis):
    converters = (dates.DateConverter, dates.ConciseDateConverter, dates._SwitchableDateConverter)
    return isinstance(axis.converter, converters)


def _is_categorical(axis):
    """Places 0 to n-1 with labels that are not those numbers."""
    places, labels = list(axis.get_majorticklocs()), tick_labels(axis)
    if not places or len(places) != len(labels) or any(place != index for index, place in enumerate(places)):
        return False
    return any(labels) and not all(_names(label, place) for label, place in zip(labels, places))


def _names(label, place):
    try:
        return float(label.replace("\N{MINUS SIGN}", "-")) == place
    except ValueError:
        return False


def label_at(axis, place):
    """Text of the tick at a place. Beside named places the nearest name counts, beside numbers the number itself."""
    places = numpy.asarray(axis.get_majorticklocs(), dtype=float)
    labels = tick_labels(axis)
    if len(places) and len(places) == len(labels):
        nearest = int(numpy.abs(places - place).argmin())
        if numpy.isclose(places[nearest], place) and labels[nearest]:
            return labels[nearest]
        named = labels[nearest] and not _names(labels[nearest], places[nearest])
        if named and not is_dated(axis) and abs(places[nearest] - place) < _half_step(places):
            return labels[nearest]
    return moment(place) if is_dated(axis) else f"{place:g}"


def _half_step(places):
    return 0.5 if len(places) < 2 else float(numpy.abs(numpy.diff(places)).min()) / 2


def is_guide(artist):
    """A line of two points that is exactly horizontal or vertical: part of a grid, or a mark, but no data."""
    if not isinstance(artist, Line2D):
        return False
    xs, ys = artist.get_xdata(), artist.get_ydata()
    if len(xs) != 2 or len(ys) != 2:
        return False
    (x, other_x), (y, other_y) = xs, ys
    return bool(x == other_x or y == other_y)


def moment(place):
    """ISO text of matplotlib's number for a date."""
    try:
        return dates.num2date(place).replace(tzinfo=None).isoformat()
    except (ValueError, OverflowError):
        return number(place)


def number(value):
    """A float, or the text of one that is not finite; None where matplotlib masks a value."""
    return None if value is numpy.ma.masked else scalar(float(value))


def values(data):
    """A sequence of coordinates: numbers or text, dates as ISO text."""
    array = numpy.asarray(data)
    if array.dtype.kind in "biu" or (array.dtype.kind == "f" and numpy.isfinite(array).all()):
        return array.tolist()
    return [value(item) for item in data]


def value(item):
    if item is numpy.ma.masked:
        return None
    if isinstance(item, numpy.datetime64):
        return str(numpy.datetime_as_string(item, unit="s"))
    if isinstance(item, decimal.Decimal):
        return number(item)
    if isinstance(item, datetime.timedelta):
        return str(item)
    try:
        return scalar(item)
    except NotPlain:
        return str(item)


def thinned(points):
    """At most MAX_POINTS of a sequence."""
    if len(points) <= MAX_POINTS:
        return points
    step = (len(points) - 1) / (MAX_POINTS - 1)
    return [points[round(index * step)] for index in range(MAX_POINTS)]
