"""Looks for values in all that root of a sandbox can read, and prints `NAME PLACE` for each find, then `looked at ...`.

Each argument is `NAME=HEX`, the value with all bits turned: the scan itself must not bring a value into the sandbox. Traffic
is what an earlier `capture` wrote; it is a file like all others."""
import base64
import os
import re
import stat
import sys

SKIPPED = ('/proc', '/sys', '/dev')
PIECE = 1 << 22


def forms(value):
    """The value, and what it looks like in base64 wherever it begins in what was encoded."""
    yield value
    for lead in range(3):
        text = base64.b64encode(b'x' * lead + value)
        inner = text[(0, 2, 3)[lead]:len(text) - 4]
        yield inner
        yield inner.replace(b'+', b'-').replace(b'/', b'_')


values = {}
for argument in sys.argv[1:]:
    name, turned = argument.split('=')
    values[name] = bytes(byte ^ 0xff for byte in bytes.fromhex(turned))
wanted = [(name, form) for name, value in values.items() for form in set(forms(value))]
# All values begin alike, so that most of what is looked at is passed over for the beginnings alone.
beginnings = set(forms(os.path.commonprefix(list(values.values()))))
assert all(len(beginning) >= 8 for beginning in beginnings)
longest = max(len(form) for _, form in wanted)
counts = {'files': 0, 'processes': 0, 'memory': 0}


def look(place, content):
    if not any(beginning in content for beginning in beginnings):
        return
    for name, form in wanted:
        if form in content:
            print(name, place, flush=True)


def look_at_file(path):
    with open(path, 'rb', buffering=0) as file:
        before = b''
        while piece := file.read(PIECE):
            look(path, before + piece)
            before = piece[-longest:]


def look_at_process(pid):
    counts['processes'] += 1
    for part in ('environ', 'cmdline', 'auxv'):
        try:
            look_at_file(f'/proc/{pid}/{part}')
        except OSError:
            pass
    try:
        with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
            for line in maps:
                begin, end, rights = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S+)', line).groups()
                if rights[0] != 'r' or line.rstrip().endswith(('[vvar]', '[vsyscall]')):
                    continue
                begin, end = int(begin, 16), int(end, 16)
                for at in range(begin, end, PIECE):
                    try:
                        memory.seek(at)
                        content = memory.read(min(PIECE + longest, end - at))
                    except OSError:
                        continue
                    counts['memory'] += len(content)
                    look(f'/proc/{pid}/mem', content)
    except OSError:
        pass


for top, directories, files in os.walk('/'):
    if top == '/':
        directories[:] = [name for name in directories if '/' + name not in SKIPPED]
    for name in files:
        path = os.path.join(top, name)
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                counts['files'] += 1
                look_at_file(path)
        except OSError:
            pass
for name in os.listdir('/dev/shm'):
    look_at_file('/dev/shm/' + name)
for entry in os.listdir('/proc'):
    if entry.isdigit() and int(entry) != os.getpid():
        look_at_process(entry)
print('looked at', *(f'{count} {what}' for what, count in counts.items()))
