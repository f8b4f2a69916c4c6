"""The values of a pandas DataFrame that is shown."""

from cay_runner.plain import NotPlain, scalar

MAX_CELLS = 1_000_000
"""A frame with more cells than this is shown without its data: text and HTML remain."""


def frame_data(frame):
    """Column name to list of values in row order, or None for a frame that is too big."""
    if frame.size > MAX_CELLS:
        return None
    columns = {}
    for position, name in enumerate(frame.columns):
        columns[_unique(_name(name), columns)] = _values(frame.iloc[:, position])
    return columns


def _name(name):
    try:
        plain = scalar(name)
    except NotPlain:
        plain = name
    return str(plain)


def _unique(name, taken):
    number, candidate = 0, name
    while candidate in taken:
        number += 1
        candidate = f"{name}.{number}"
    return candidate


def _values(column):
    """Timestamps are ISO text; what JSON cannot say is its text."""
    if getattr(column.dtype, "kind", "O") in "biu":
        return column.tolist()
    return [_value(value) for value in column.tolist()]


def _value(value):
    try:
        return scalar(value)
    except NotPlain:
        return value if isinstance(value, (list, tuple, dict)) else _text(value)


def _text(value):
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
