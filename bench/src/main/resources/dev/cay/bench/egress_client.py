"""A client inside a sandbox. Prints what it measured as JSON."""
import json
import os
import socket
import ssl
import sys
import time

what, address, name = sys.argv[1:4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE


def connect():
    plain = socket.create_connection((address, 443), 10)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(plain, server_hostname=name)


def ask(c, path):
    c.sendall(('GET %s HTTP/1.1\r\nHost: %s\r\n\r\n' % (path, name)).encode())


def small(c):
    ask(c, '/')
    said = b''
    while not said.endswith(b'ok'):
        more = c.recv(4096)
        said += more
        if not more or not said.startswith(b'HTTP/1.1 200'[:len(said)]):
            raise OSError('answered %r' % said[:200])


def connections(count):
    """Milliseconds from the first packet to the answer, each on a connection of its own."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        with connect() as c:
            small(c)
            times.append(1000 * (time.perf_counter() - began))
    return times


def bulk(size):
    """Megabytes a second of one answer."""
    room = bytearray(1 << 20)
    with connect() as c:
        small(c)
        began = time.perf_counter()
        ask(c, '/bytes/%d' % size)
        got = 0
        while got < size:
            count = c.recv_into(room)
            if not count:
                raise OSError('cut off after %d bytes' % got)
            got += count
        return size / 1e6 / (time.perf_counter() - began)


def until_failure(action):
    while True:
        try:
            action()
        except OSError:
            return time.time()


def change():
    """When an open connection and a new one were refused, in seconds of the clock."""
    kept = connect()
    kept.settimeout(10)
    small(kept)
    into, out = os.pipe()
    if os.fork() == 0:
        refused = until_failure(lambda: connect().close())
        os.write(out, json.dumps(refused).encode())
        os._exit(0)
    os.close(out)
    print('READY', flush=True)

    def use():
        small(kept)
        time.sleep(0.0005)

    cut = until_failure(use)
    return {'cut': cut, 'refused': json.loads(os.read(into, 100))}


if what == 'connections':
    print(json.dumps(connections(int(sys.argv[4]))))
elif what == 'bulk':
    print(json.dumps(bulk(int(sys.argv[4]))))
else:
    print(json.dumps(change()))
