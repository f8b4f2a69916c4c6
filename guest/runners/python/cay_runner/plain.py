"""Turns Python values into what JSON can say."""

import base64
import dataclasses
import datetime
import decimal
import enum
import math
import sys
import uuid

from cay_runner.frames import ascii_json

MAX_NODES = 2_000_000
"""Values that one JSON representation may have; a structure with more has none."""

MAX_DEPTH = 200
"""How deep it may nest."""


class NotPlain(Exception):
    """The value has no JSON form."""


def json_text(value):
    """JSON text of a value, or None if it has none (or one too deep or too big)."""
    try:
        text = ascii_json(value)  # most values are plain already, and this is much faster than looking at each
    except (TypeError, ValueError, RecursionError):
        pass
    else:
        return None if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value) else text
    try:
        return ascii_json(_Plainer().convert(value))
    except (NotPlain, TypeError, ValueError, RecursionError):
        return None


def _is_deep(value):
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (list, tuple, dict))
        ]
        if not level:
            return False
    return True


def mime_text(value):
    """JSON text of one representation in a MIME bundle: bytes travel as base64."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return ascii_json(base64.b64encode(value).decode("ascii"))
    return json_text(value)


def scalar(value):
    """A single value as a number, text, boolean or None; NotPlain for containers and everything else.

    Numbers that are not finite become the texts `nan`, `inf` and `-inf`.
    """
    if isinstance(value, enum.Enum):
        return scalar(value.value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    return _foreign_scalar(value)


def _foreign_scalar(value):
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.datetime64):
            return str(value)
        if isinstance(value, numpy.generic):
            return scalar(value.item())
    pandas = sys.modules.get("pandas")
    if pandas is not None and value is getattr(pandas, "NA", pandas):
        return None
    raise NotPlain(type(value).__name__)


class _Plainer:
    """One walk through a structure; counts what it sees and knows the containers it is inside of."""

    def __init__(self):
        self._nodes = 0
        self._path = set()

    def convert(self, value):
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise NotPlain("too big")
        children = self._children(value)
        if children is None:
            return scalar(value)
        if id(value) in self._path or len(self._path) >= MAX_DEPTH:
            raise NotPlain("recursive or too deep")
        self._path.add(id(value))
        try:
            if isinstance(children, dict):
                return {_key(key): self.convert(child) for key, child in children.items()}
            return [self.convert(child) for child in children]
        finally:
            self._path.discard(id(value))

    @staticmethod
    def _children(value):
        if isinstance(value, (dict, list, tuple)):
            return value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.ndarray) and value.ndim:
            return value.tolist() if value.dtype.kind in "biuf" else list(value)
        return None


def _key(key):
    plain = scalar(key)
    return plain if isinstance(plain, str) else ascii_json(plain)
