"""One Python context: cells in, events out. `loop` is where to begin reading."""
