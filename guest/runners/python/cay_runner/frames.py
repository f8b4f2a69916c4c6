"""Lines between node and runner: ASCII JSON, one object a line."""

import json
import os
import re

MAX_LINE = 32 << 20
"""What one event line may have at most, in bytes."""

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_ESCAPES = re.compile(r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\ud[89a-f][0-9a-f]{2}")


def ascii_json(value):
    """JSON text of `value`: ASCII only, and half a surrogate pair becomes U+FFFD, since no UTF-8 can say it.

    Raises what the JSON encoder raises, for numbers that are not finite too.
    """
    text = _encode(value)
    if "\\ud" in text:
        text = _ESCAPES.sub(lambda match: "\\ufffd" if len(match[0]) == 6 else match[0], text)
    if "\x7f" in text:
        text = text.replace("\x7f", "\\u007f")
    return text


def event_line(event, **fields):
    return ascii_json({"event": event, **fields}) + "\n"


def read_requests(descriptor):
    """Yields the requests that arrive until the end of file; lines that are no JSON object are passed over."""
    pieces = []
    while chunk := os.read(descriptor, 1 << 16):
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            pieces.append(line)
            request = _parse(b"".join(pieces))
            pieces.clear()
            if request is not None:
                yield request
        if rest:
            pieces.append(rest)


def _parse(line):
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return request if isinstance(request, dict) else None
