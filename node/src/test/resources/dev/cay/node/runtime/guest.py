"""Speaks guest/PROTOCOL.md for tests. Run in the sandbox's network namespace: nsenter -t PID -n python3 guest.py ...

run UID ARGV...          spawns with pipes, prints {"pid","code","signal","out","err"} or {"errno","what"}
pty UID ARGV...          spawns on a terminal, prints {"pid"} and leaves it running
type PID TEXT MARK       attaches, types TEXT and a newline, prints what is read up to MARK
list                     prints [[pid, flags, state, code, signal, tag], ...]
many COUNT               spawns COUNT processes at once, waits for all, prints how many ended with 7
fill                     spawns sleepers until refused, ends them, prints {"started","errno","what"}
garbage                  sends nonsense, prints what the guest did with the connection
"""

import array, json, os, select, socket, struct, sys, time

HELLO, SPAWN, ATTACH, SIGNAL, RESIZE, CLOSE_STDIN, LIST, FORGET = range(1, 9)
OK, ERROR, EXIT = 128, 129, 130
LIMIT = 20


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def texts(values):
    return struct.pack("<I", len(values)) + b"".join(map(text, values))


class Refused(Exception):
    pass


class Guest:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(LIMIT)
        self.socket.connect("\0cay")
        self.requests = 0
        self.exits = {}

    def frame(self):
        data, ancillary, _, _ = self.socket.recvmsg(4, 256)
        if not data:
            raise EOFError
        while len(data) < 4:
            data += self.socket.recv(4 - len(data))
        length = struct.unpack("<I", data)[0]
        body = b""
        while len(body) < length:
            body += self.socket.recv(length - len(body))
        descriptors = array.array("i")
        for _, _, payload in ancillary:
            descriptors.frombytes(payload)
        return body[0], struct.unpack("<I", body[1:5])[0], body[5:], list(descriptors)

    def send(self, kind, payload=b""):
        self.requests += 1
        self.socket.sendall(struct.pack("<IBI", 5 + len(payload), kind, self.requests) + payload)
        return self.requests

    def next_answer(self):
        while True:
            kind, number, payload, descriptors = self.frame()
            if kind != EXIT:
                return kind, number, payload, descriptors
            pid, code, signal, _ = struct.unpack("<IiiB", payload)
            self.exits[pid] = (code, signal)

    def ask(self, kind, payload=b""):
        wanted = self.send(kind, payload)
        kind, number, payload, descriptors = self.next_answer()
        assert number == wanted, (number, wanted)
        if kind == ERROR:
            raise Refused({"errno": struct.unpack("<I", payload[:4])[0], "what": payload[8:].decode()})
        return payload, descriptors

    def spawn_payload(self, flags, uid, argv, tag=""):
        env = ["PATH=/usr/bin:/bin:/sbin:/usr/sbin", "HOME=/", "PS1=$ ", "TERM=dumb"]
        return (
            struct.pack("<IHHIII", flags, 80, 24, uid, uid, 0) + text("/") + texts(argv) + texts(env) + text(tag)
        )

    def spawn(self, flags, uid, argv, tag=""):
        payload, descriptors = self.ask(SPAWN, self.spawn_payload(flags, uid, argv, tag))
        return struct.unpack("<I", payload)[0], descriptors

    def wait(self, pid):
        while pid not in self.exits:
            kind, _, payload, _ = self.frame()
            assert kind == EXIT
            ended, code, signal, _ = struct.unpack("<IiiB", payload)
            self.exits[ended] = (code, signal)
        return self.exits[pid]


def drain(descriptors):
    """Reads all of several pipes to their ends."""
    data = {fd: b"" for fd in descriptors}
    open_ones = set(descriptors)
    while open_ones:
        ready, _, _ = select.select(list(open_ones), [], [], LIMIT)
        assert ready, "no end of output"
        for fd in ready:
            chunk = os.read(fd, 65536)
            data[fd] += chunk
            if not chunk:
                open_ones.discard(fd)
    return [data[fd].decode(errors="replace") for fd in descriptors]


def run(guest, uid, *argv):
    pid, (out, err) = guest.spawn(0, int(uid), list(argv))
    output, errors = drain([out, err])
    code, signal = guest.wait(pid)
    guest.ask(FORGET, struct.pack("<I", pid))
    return {"pid": pid, "code": code, "signal": signal, "out": output, "err": errors}


def pty(guest, uid, *argv):
    pid, (_, _) = guest.spawn(1, int(uid), list(argv), "shell")
    return {"pid": pid}


def type_text(guest, pid, line, mark):
    _, (typed, printed) = guest.ask(ATTACH, struct.pack("<I", int(pid)))
    os.write(typed, line.encode() + b"\n")
    seen, deadline = "", time.monotonic() + LIMIT
    while mark not in seen:
        ready, _, _ = select.select([printed], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"no {mark!r} in {seen!r}"
        seen += os.read(printed, 65536).decode(errors="replace")
    return {"out": seen}


def list_all(guest):
    payload, _ = guest.ask(LIST)
    count, at, found = struct.unpack("<I", payload[:4])[0], 4, []
    for _ in range(count):
        pid, flags, state, code, signal, length = struct.unpack("<IIBiiI", payload[at : at + 21])
        found.append([pid, flags, state, code, signal, payload[at + 21 : at + 21 + length].decode()])
        at += 21 + length
    assert at == len(payload)
    return found


def many(guest, count):
    for _ in range(int(count)):
        guest.send(SPAWN, guest.spawn_payload(0, 0, ["sh", "-c", "exit 7"]))
        kind, _, payload, descriptors = guest.next_answer()
        if kind == ERROR:
            raise Refused({"errno": struct.unpack("<I", payload[:4])[0], "what": payload[8:].decode()})
        for fd in descriptors:
            os.close(fd)
    listed = [entry[0] for entry in list_all(guest)]
    ended = sum(1 for pid in listed if guest.wait(pid) == (7, 0))
    for pid in listed:
        guest.ask(FORGET, struct.pack("<I", pid))
    return {"ended": ended, "left": len(list_all(guest))}


def fill(guest):
    started = []
    try:
        while len(started) < 5000:
            pid, descriptors = guest.spawn(0, 0, ["sleep", "60"])
            started.append(pid)
            for fd in descriptors:
                os.close(fd)
        refusal = {}
    except Refused as refused:
        refusal = refused.args[0]
    for pid in started:
        guest.ask(SIGNAL, struct.pack("<II", pid, 9))
    for pid in started:
        assert guest.wait(pid) == (-1, 9)
        guest.ask(FORGET, struct.pack("<I", pid))
    return {"started": len(started), **refusal}


def garbage(guest):
    guest.socket.sendall(b"\xff" * 64)
    try:
        return {"cut": guest.socket.recv(1) == b""}
    except ConnectionResetError:
        return {"cut": True}


if __name__ == "__main__":
    command, arguments = sys.argv[1], sys.argv[2:]
    link = Guest()
    if command != "garbage":
        assert struct.unpack("<I", link.ask(HELLO, struct.pack("<I", 3))[0])[0] >= 3
    actions = {"run": run, "pty": pty, "type": type_text, "list": list_all}
    actions |= {"many": many, "fill": fill, "garbage": garbage}
    try:
        print(json.dumps(actions[command](link, *arguments)))
    except Refused as refused:
        print(json.dumps(refused.args[0]))
