"""What a hostile root user may try inside one sandbox. `attacks.py NAME SECONDS` prints one line: what stopped it."""
import ctypes
import errno
import json
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

import attacks_on_node
from attack_tools import libc, END, SECONDS, GATEWAY, name, until_refused, linger, in_children, summed


def forks():
    def step(_):
        child = os.fork()
        if child == 0:
            time.sleep(SECONDS)
            os._exit(0)
    count, reason = until_refused(step)
    tries = 0
    while time.monotonic() < END:
        try:
            step(0)
        except OSError:
            tries += 1
    return {'count': count, 'reasons': [reason], 'tries': tries}


def memory():
    killed = 0
    while time.monotonic() < END:
        child = os.fork()
        if child == 0:
            kept = []
            while True:
                kept.append(bytearray(os.urandom(4096)) * 4096)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return {'count': killed, 'reasons': ['SIGKILL'] if killed else []}


def shared_memory():
    """What is nobody's: it stays when every process is killed."""
    reasons = []
    for place in ('/dev/shm', '/run'):
        with open(place + '/hog', 'wb', buffering=0) as file:
            reasons.append(until_refused(lambda _: file.write(b'x' * (1 << 20)))[1])
    libc.shmat.restype = ctypes.c_void_p

    def segment(_):
        number = libc.shmget(0, 4 << 20, 0o1600)
        if number < 0:
            raise OSError(ctypes.get_errno(), 'shmget')
        ctypes.memset(libc.shmat(number, None, 0), 1, 4 << 20)
    count, reason = until_refused(segment)
    return {'count': count, 'reasons': [*reasons, reason]}


def disk():
    written, reason = 0, 'time'
    block = os.urandom(1 << 20)
    turn = 0
    while time.monotonic() < END:
        try:
            with open(f'/home/user/full{turn}', 'wb', buffering=0) as file:
                while time.monotonic() < END:
                    written += file.write(block)
        except OSError as error:
            reason = name(error)
            try:
                os.unlink(f'/home/user/full{turn}')
            except OSError:
                pass
        turn += 1
    return {'count': written >> 20, 'reasons': [reason]}


def fsyncs():
    def work(index):
        with open(f'/home/user/sync{index}', 'wb', buffering=0) as file:
            def step(_):
                file.write(b'x' * 65536)
                os.fsync(file.fileno())
            return until_refused(step)
    return summed(in_children(8, work))


def inodes():
    def work(index):
        os.makedirs(f'/home/user/tiny{index}', exist_ok=True)
        def step(count):
            os.close(os.open(f'/home/user/tiny{index}/{"n" * 200}{count}', os.O_CREAT | os.O_WRONLY))
        return until_refused(step)
    return summed(in_children(2, work))


def directory():
    """One directory with more entries than anybody wants to list."""
    os.makedirs('/home/user/many', exist_ok=True)
    def work(index):
        return until_refused(lambda count: os.close(
            os.open(f'/home/user/many/{index}-{count}', os.O_CREAT | os.O_WRONLY)), 75_000)
    return summed(in_children(2, work))


def descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return summed(in_children(900, lambda _: until_refused(lambda _: os.open('/dev/null', os.O_RDONLY))))


def output():
    """Many loud commands at once, to whoever listens."""
    loud = [subprocess.Popen(['/usr/bin/yes', 'x' * 1000]) for _ in range(100)]
    linger()
    for process in loud:
        process.kill()
    return {'count': 100, 'reasons': ['blocked']}


def gigabyte():
    """More than any log holds, to a client that reads it all."""
    block = b'x' * (1 << 20)
    for _ in range(1024):
        os.write(1, block)
    return {'count': 1024, 'reasons': ['read']}


def spin():
    def work(_):
        while time.monotonic() < END:
            pass
        return 1, 'time'
    return summed(in_children(16, work))


def kills():
    """Everything that can be killed, again and again."""
    count = 0
    while time.monotonic() < END:
        for _ in range(20):
            if os.fork() == 0:
                signal.pause()
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass
        try:
            os.kill(1, signal.SIGKILL)
            os.kill(1, signal.SIGSTOP)
        except OSError:
            pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                count += 1
        except ChildProcessError:
            pass
    return {'count': count, 'reasons': ['alive']}


def connections():
    """New flows as fast as they go: within the sandbox, to the resolver, and out."""
    def work(index):
        target = [('127.0.0.1', 0), (GATEWAY, 53), ('198.51.100.1', 0)][index]
        def step(count):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                for port in range(64):
                    try:
                        udp.sendto(b'x', (target[0], target[1] or 1024 + (count * 64 + port) % 60000))
                    except (PermissionError, ConnectionRefusedError):
                        pass
        return until_refused(step)
    return summed(in_children(3, work))


def inotify():
    """The limit in a user namespace counts per user, and root has 65,536 of them."""
    def work(index):
        os.setuid(2000 + index)
        def step(_):
            if libc.inotify_init1(0) < 0:
                raise OSError(ctypes.get_errno(), 'inotify')
        return until_refused(step)
    return summed(in_children(900, work))


def terminals():
    return summed(in_children(4, lambda _: until_refused(lambda _: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))))


def aio():
    number = {'x86_64': 206, 'aarch64': 0}[os.uname().machine]
    def work(_):
        def step(_):
            context = ctypes.c_ulong(0)
            if libc.syscall(number, ctypes.c_long(30000), ctypes.byref(context)) < 0:
                raise OSError(ctypes.get_errno(), 'io_setup')
        return until_refused(step)
    return summed(in_children(50, work))


def arp():
    """Makes the host know neighbours that are not there."""
    try:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806))
    except OSError as refused:
        return {'count': 0, 'reasons': [errno.errorcode[refused.errno]]}
    raw.bind(('eth0', 0))
    own = raw.getsockname()[4]
    def step(_):
        for _ in range(100):
            sender = struct.pack('!I', 0x0AC80000 + random.randrange(1 << 16))
            raw.send(b'\xff' * 6 + own + b'\x08\x06' + struct.pack('!HHBBH', 1, 0x0800, 6, 4, 1)
                     + own + sender + b'\0' * 6 + socket.inet_aton(GATEWAY))
    count, reason = until_refused(step)
    return {'count': count * 100, 'reasons': [reason]}


def sockets():
    """Kernel memory behind sockets that nobody reads."""
    def work(index):
        kept = []
        def step(_):
            if index % 2:
                receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                receiver.bind(('127.0.0.1', 0))
                sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                for _ in range(60):
                    sender.sendto(b'x' * 60000, receiver.getsockname())
                sender.close()
                kept.append(receiver)
                return
            listener = socket.create_server(('127.0.0.1', 0))
            left = socket.create_connection(listener.getsockname())
            kept.extend((left, listener.accept()[0]))
            listener.close()
            for end in kept[-2:]:
                end.setblocking(False)
                try:
                    while True:
                        end.send(b'x' * 65536)
                except BlockingIOError:
                    pass
        return until_refused(step, 400)
    return summed(in_children(40, work))


def pipes():
    def work(_):
        kept = []
        def step(_):
            ends = os.pipe()
            kept.append(ends)
            try:
                libc.fcntl(ends[1], 1031, 1 << 20)
            except OSError:
                pass
            os.set_blocking(ends[1], False)
            try:
                while True:
                    os.write(ends[1], b'x' * 65536)
            except BlockingIOError:
                pass
        return until_refused(step, 2000)
    return summed(in_children(4, work))


def ipc():
    reasons = {}
    reasons['semget'] = until_refused(lambda _: check(libc.semget(0, 200, 0o1600)), 100_000)
    reasons['msgget'] = until_refused(lambda _: check(libc.msgget(0, 0o1600)), 100_000)
    def queue(count):
        if libc_rt().mq_open(f'/q{count}'.encode(), os.O_CREAT | os.O_RDWR, 0o600, None) < 0:
            raise OSError(ctypes.get_errno(), 'mq_open')
    reasons['mq_open'] = until_refused(queue, 100_000)
    return {'count': sum(count for count, _ in reasons.values()), 'reasons': sorted(r for _, r in reasons.values()),
            'each': reasons}


def libc_rt():
    try:
        return ctypes.CDLL('librt.so.1', use_errno=True) if not hasattr(libc, 'mq_open') else libc
    except OSError:
        return libc


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), 'call')


def epolls():
    def work(_):
        ends = os.pipe()
        def step(_):
            number = libc.epoll_create1(0)
            check(number)
            event = struct.pack('=IQ', 1, 0) if os.uname().machine == 'x86_64' else struct.pack('IxxxxQ', 1, 0)
            check(libc.epoll_ctl(number, 1, ends[0], event))
        return until_refused(step)
    return summed(in_children(20, work))


def names():
    """Names that do not exist are remembered by the kernel too."""
    def work(index):
        def step(count):
            for turn in range(100):
                os.path.exists(f'/home/user/{index}-{count}-{turn}-' + 'n' * 100)
        return until_refused(step)
    answers = summed(in_children(2, work))
    answers['count'] *= 100
    return answers


def namespaces():
    told = {}
    for flag, what in ((0x10000000, 'user'), (0x20000, 'mount'), (0x40000000, 'net')):
        told[what] = 'made' if libc.unshare(flag) == 0 else errno.errorcode[ctypes.get_errno()]
    number = {'x86_64': 248, 'aarch64': 217}[os.uname().machine]
    made = libc.syscall(number, b'user', b'k', b'v', ctypes.c_long(1), ctypes.c_long(-3))
    told['key'] = 'made' if made >= 0 else errno.errorcode[ctypes.get_errno()]
    return {'count': sum(value == 'made' for value in told.values()), 'reasons': sorted(set(told.values())), **told}


print(json.dumps({**vars(attacks_on_node), **globals()}[sys.argv[1]]()))
