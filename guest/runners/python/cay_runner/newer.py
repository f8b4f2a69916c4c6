"""Lets an older IPython work with a Python that came after it."""


def install():
    """Tracebacks mark the part of a line that failed, which a library finds in the bytecode. One that does not know this
    Python's bytecode raises instead, and the whole traceback is lost: then nothing is marked."""
    try:
        from executing.executing import Executing, Source
    except ImportError:
        return  # an IPython that does without
    found = Source.executing.__func__

    def executing(cls, frame_or_tb):
        try:
            return found(cls, frame_or_tb)
        except Exception:
            frame = getattr(frame_or_tb, "tb_frame", frame_or_tb)
            return Executing(frame, cls.for_frame(frame), None, set(), None)

    Source.executing = classmethod(executing)
