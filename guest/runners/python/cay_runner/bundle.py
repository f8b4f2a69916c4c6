"""A value that is shown: its MIME bundle as the line of a `result` event."""

import sys

from cay_runner.frames import MAX_LINE, ascii_json
from cay_runner.plain import mime_text

_ROOM = MAX_LINE - 4096
"""Characters that all representations of one result may have together; the rest is for the frame around them."""


def result_line(main, data):
    """The event line for a bundle, or None when nothing in it can be shown."""
    texts = {}
    for mime, value in data.items():
        text = mime_text(value)
        if text is not None:
            texts[str(mime)] = text
    _fit(texts)
    if not texts:
        return None
    body = ",".join(f"{ascii_json(mime)}:{text}" for mime, text in texts.items())
    return f'{{"event":"result","main":{"true" if main else "false"},"data":{{{body}}}}}\n'


def _most_dispensable(texts):
    """The biggest; plain text only when the others are small."""
    others = {mime: len(text) for mime, text in texts.items() if mime != "text/plain" and len(text) > 1 << 16}
    return max(others, key=others.get) if others else max(texts, key=lambda mime: len(texts[mime]))


def _fit(texts):
    """Leaves out the biggest representations until the line is short enough, and says so."""
    while sum(map(len, texts.values())) + sum(map(len, texts)) > _ROOM:
        mime = _most_dispensable(texts)
        note = f"{mime} of {len(texts.pop(mime)) >> 20} MiB is not shown: a result may have 32 MiB at most"
        print(f"cay: {note}", file=sys.stderr)
        if mime == "text/plain" or not texts:
            texts["text/plain"] = ascii_json(f"<{note}>")
