"""Who lives in a sandbox while it is paused and resumed again and again, and who asks them how they are.

`residents.py ROLE` plays one of them; `residents.py look PID...` asks all, and tells as one line of JSON what it found.
"""
import fcntl
import hashlib
import http.client
import http.server
import json
import mmap
import os
import socket
import socketserver
import sqlite3
import subprocess
import sys
import time

HOME = '/tmp/residents/'
MEMORY = 64 << 20
LOCKS = ['lockf', 'lockf-mapped', 'flock', 'flock-mapped']


def answer(name, reply):
    """Tells everybody who connects to a socket what `reply` gives."""
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            try:
                said = reply()
            except Exception as e:
                said = {'error': repr(e)}
            self.wfile.write(json.dumps({'pid': os.getpid(), **said}).encode())

    with socketserver.UnixStreamServer(HOME + name, Handler) as server:
        server.serve_forever()


def ask(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(HOME + name)
        return json.loads(b''.join(iter(lambda: s.recv(65536), b'')))


def memory():
    """Random data in pages of its own, and some that are shared with a child and lie in no file."""
    data = os.urandom(MEMORY)
    shared = mmap.mmap(-1, 1 << 20)
    shared[:] = os.urandom(1 << 20)
    if os.fork() == 0:
        answer('child', lambda: {'hash': hashlib.sha256(shared).hexdigest()})
    answer('memory', lambda: {
        'hash': hashlib.sha256(data).hexdigest(),
        'shared': hashlib.sha256(shared).hexdigest(),
    })


def web():
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        asked = 0

        def do_GET(self):
            self.asked += 1
            body = json.dumps({'port': self.client_address[1], 'asked': self.asked}).encode()
            self.send_response(200)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(('127.0.0.1', 8000), Handler).serve_forever()


def caller():
    """Keeps one connection to the web server for ever; a new one would start to count anew."""
    connection = http.client.HTTPConnection('127.0.0.1', 8000, timeout=30)
    connection.connect()
    connection.auto_open = 0

    def call():
        connection.request('GET', '/')
        return json.loads(connection.getresponse().read())

    answer('caller', call)


def locks():
    """Holds a lock of each kind, on files that are mapped and on others, as databases do."""
    kept = []
    for name in LOCKS:
        file = open(HOME + name, 'w+b')
        file.write(bytes(4096))
        file.flush()
        kept.append((file, mmap.mmap(file.fileno(), 4096) if 'mapped' in name else None))
        (fcntl.flock if 'flock' in name else fcntl.lockf)(file, fcntl.LOCK_EX)
    answer('locks', lambda: {})


def is_locked(name):
    with open(HOME + name, 'r+b') as file:
        try:
            (fcntl.flock if 'flock' in name else fcntl.lockf)(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True


def look_at_locks():
    return {**ask('locks'), **{name: is_locked(name) for name in LOCKS}}


def rows():
    with sqlite3.connect(HOME + 'rows.db', isolation_level=None) as database:
        database.execute('PRAGMA journal_mode=WAL')
        database.execute('PRAGMA busy_timeout=30000')
        database.execute('CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER, at REAL)')
        n = 0
        while True:
            n += 1
            database.execute('INSERT INTO rows (n, at) VALUES (?, ?)', (n, time.time()))
            time.sleep(0.03)


def look_at_rows():
    with sqlite3.connect(HOME + 'rows.db', isolation_level=None) as database:
        database.execute('PRAGMA busy_timeout=30000')
        count, first, last, odd = database.execute(
            'SELECT count(*), min(n), max(n), sum(id != n) FROM rows').fetchone()
        return {
            'mode': database.execute('PRAGMA journal_mode').fetchone()[0],
            'integrity': database.execute('PRAGMA integrity_check').fetchone()[0],
            'whole': (count, first, odd) == (last, 1, 0),
            'count': count,
            'pid': int(subprocess.check_output(['pgrep', '-f', 'residents.py rows$'])),
        }


def look_at_lines():
    with open(HOME + 'lines', 'rb') as file:
        text = file.read()
    whole = text[:text.rfind(b'\n')].split(b'\n')
    wrong = next((i for i, line in enumerate(whole) if line != b'%d' % (i + 1)), None)
    return {
        'count': len(whole),
        'wrong': None if wrong is None else b' '.join(whole[max(0, wrong - 2):wrong + 3]).decode(errors='replace'),
    }


def look_at_errors():
    with open(HOME + 'errors', 'rb') as file:
        return file.read()[-400:].decode(errors='replace')


def look_at_process(pid):
    with open(f'/proc/{pid}/cmdline', 'rb') as file:
        return {'pid': int(pid), 'command': file.read().replace(b'\0', b' ').decode().strip()}


def look(pids):
    def found(what):
        try:
            return what()
        except Exception as e:
            return {'error': repr(e)}

    print(json.dumps({
        'memory': found(lambda: ask('memory')),
        'child': found(lambda: ask('child')),
        'caller': found(lambda: ask('caller')),
        'locks': found(look_at_locks),
        'rows': found(look_at_rows),
        'lines': found(look_at_lines),
        'processes': [found(lambda: look_at_process(pid)) for pid in pids],
        'errors': found(look_at_errors),
        'time': time.time(),
        'hostname': socket.gethostname(),
        'random': os.urandom(16).hex(),
    }))


if __name__ == '__main__':
    os.makedirs(HOME, exist_ok=True)
    if sys.argv[1] == 'look':
        look(sys.argv[2:])
    else:
        globals()[sys.argv[1]]()
