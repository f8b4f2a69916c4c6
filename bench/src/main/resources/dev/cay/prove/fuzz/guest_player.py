"""Plays one side of conversations between node and guest; what is said was decided elsewhere and comes by lines.

lie    stands where a guest should. A line is a list of answers: the first request is met with the first one, and so on.
knock  stands where a node should. A line is one thing to say, and the answer is only waited for.
"""
import array, base64, json, os, socket, struct, sys, time

LIMIT = 10


def lent(kinds):
    """Descriptors of the named kinds, and all that must be closed when they are sent."""
    given, opened = [], []
    for kind in kinds:
        if kind == "pipe" or kind == "fed":
            reader, writer = os.pipe()
            if kind == "fed":
                os.write(writer, b"some output\n" * 50)
            given.append(reader)
            opened += [reader, writer]
        elif kind == "writer":
            reader, writer = os.pipe()
            given.append(writer)
            opened += [reader, writer]
        elif kind == "terminal" or kind == "slave":
            master, slave = os.openpty()
            given.append(master if kind == "terminal" else slave)
            opened += [master, slave]
        elif kind == "socket":
            one, other = socket.socketpair()
            given.append(one.detach())
            opened += [given[-1], other.detach()]
        else:
            given.append(os.open({"zero": "/dev/zero", "directory": "/", "path": "/"}.get(kind, "/etc/passwd"),
                                 os.O_PATH if kind == "path" else os.O_RDONLY))
            opened.append(given[-1])
    return given, opened


def say(connection, turn):
    given, opened = lent(turn["lend"])
    try:
        pieces = [base64.b64decode(piece) for piece in turn["pieces"]]
        for index, piece in enumerate(pieces):
            if index == 0 and given and piece:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", given))]
                sent = connection.sendmsg([piece], rights)
                connection.sendall(piece[sent:])
            else:
                connection.sendall(piece)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def take(connection):
    """Whether a whole frame came."""
    wanted = 4
    head = b""
    while len(head) < wanted:
        more = connection.recv(wanted - len(head))
        if not more:
            return False
        head += more
    left = struct.unpack("<I", head)[0]
    while left > 0:
        more = connection.recv(min(left, 65536))
        if not more:
            return False
        left -= len(more)
    return True


def lie(turns):
    connection, _ = listener.accept()
    connection.settimeout(LIMIT)
    try:
        while take(connection):
            if turns:
                turn = turns.pop(0)
                say(connection, turn)
                if turn["end"]:
                    break
        return "done"
    except OSError as problem:
        return "ended " + type(problem).__name__
    finally:
        connection.close()


def reach(connection):
    """A guest that was just started may not listen yet."""
    for attempt in range(50):
        try:
            return connection.connect("\0cay")
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise ConnectionRefusedError


def knock(turn):
    heard = 0
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(LIMIT)
    try:
        reach(connection)
        say(connection, turn)
        connection.shutdown(socket.SHUT_WR)
        while more := connection.recv(65536):
            heard += len(more)
        return "closed %d" % heard
    except TimeoutError:
        return "hung %d" % heard
    except OSError as problem:
        return "reset %s" % type(problem).__name__
    finally:
        connection.close()


if sys.argv[1] == "lie":
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0cay")
    listener.listen(8)
    listener.settimeout(LIMIT)
print("READY", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    try:
        print(lie(order) if sys.argv[1] == "lie" else knock(order), flush=True)
    except OSError as problem:
        print("failed " + str(problem), flush=True)
