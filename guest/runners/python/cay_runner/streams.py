"""What a cell finds as `sys.stdout` and `sys.stderr`."""

import codecs
import io


class Stream(io.TextIOBase):
    """Hands text to the outlet at once, so that its order with other streams, results and errors is kept."""

    encoding = "utf-8"
    errors = "replace"
    line_buffering = False
    write_through = True
    mode = "w"

    def __init__(self, outlet, kind, descriptor):
        self._outlet = outlet
        self._kind = kind
        self._descriptor = descriptor
        self.name = f"<std{kind}>"
        self.buffer = _Bytes(self)

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._outlet.text(self._kind, text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def writable(self):
        return True

    def flush(self):
        if self._outlet.forked:
            self._outlet.flush_child(self._kind)

    def close(self):
        """Does nothing: the next cell prints too."""

    def fileno(self):
        return self._descriptor

    def isatty(self):
        return False

    def reconfigure(self, **_settings):
        pass


class _Bytes(io.RawIOBase):
    """The stream's `buffer`, for those who print bytes."""

    def __init__(self, stream):
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.name = stream.name
        self.raw = self

    def write(self, data):
        chunk = bytes(data)
        self._stream.write(self._decoder.decode(chunk))
        return len(chunk)

    def writable(self):
        return True

    def fileno(self):
        return self._stream.fileno()

    def close(self):
        pass
