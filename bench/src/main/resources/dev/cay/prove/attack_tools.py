"""What attacks have in common: how long they go on, and how they count what they got."""
import ctypes
import errno
import json
import os
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
SECONDS = float(sys.argv[2])
END = time.monotonic() + SECONDS
GATEWAY = open('/etc/resolv.conf').read().split('nameserver')[1].split()[0]


def name(error):
    return errno.errorcode.get(error.errno, str(error.errno))


def until_refused(step, most=10_000_000):
    """Repeats a step until the kernel says no, or time is up; how often it worked, and what it said."""
    for count in range(most):
        if time.monotonic() > END:
            return count, 'time'
        try:
            step(count)
        except OSError as error:
            return count, name(error)
        except MemoryError:
            return count, 'ENOMEM'
    return most, 'most'


def linger():
    time.sleep(max(0, END - time.monotonic()))


def in_children(count, work):
    """Runs work(index) in so many children at once; what each printed."""
    pipes = []
    for index in range(count):
        reader, writer = os.pipe()
        try:
            child = os.fork()
        except OSError:
            os.close(reader)
            os.close(writer)
            break
        if child == 0:
            os.close(reader)
            try:
                os.write(writer, json.dumps(work(index)).encode())
                linger()
            finally:
                os._exit(0)
        os.close(writer)
        pipes.append(reader)
    answers = []
    for reader in pipes:
        text = os.read(reader, 4096)
        os.close(reader)
        answers.append(json.loads(text) if text else [0, 'killed'])
    return answers


def summed(answers):
    reasons = sorted({reason for _, reason in answers})
    return {'count': sum(count for count, _ in answers), 'reasons': reasons, 'processes': len(answers)}
