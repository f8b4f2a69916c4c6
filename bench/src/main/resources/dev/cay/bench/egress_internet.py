"""The internet of a measurement: a name server, and a web server with TLS that is quick."""
import socket
import ssl
import struct
import sys
import threading

directory, address, other = sys.argv[1:4]
BLOCK = memoryview(bytes(1 << 20))
SMALL = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'


def spawn(action, *arguments):
    threading.Thread(target=action, args=arguments, daemon=True).start()


def serve(plain):
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with tls.wrap_socket(plain, server_side=True) as c:
            while answer(c):
                pass
    except OSError:
        plain.close()


def answer(c):
    head = b''
    while b'\r\n\r\n' not in head:
        more = c.recv(65536)
        if not more:
            return False
        head += more
    path = head.split(b' ', 2)[1].decode()
    if not path.startswith('/bytes/'):
        c.sendall(SMALL)
        return True
    left = int(path.split('/')[2])
    c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % left)
    while left:
        part = min(left, len(BLOCK))
        c.sendall(BLOCK[:part])
        left -= part
    return True


def accept(s):
    while True:
        spawn(serve, s.accept()[0])


def listen(place):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((place, 443))
    s.listen(1024)
    return s


def dns(s):
    while True:
        data, peer = s.recvfrom(4096)
        at = 12
        while data[at]:
            at += 1 + data[at]
        question = data[12:at + 5]
        if struct.unpack('>H', data[at + 1:at + 3])[0] != 1:
            s.sendto(data[:2] + b'\x81\x80\x00\x01\x00\x00\x00\x00\x00\x00' + question, peer)
            continue
        record = b'\xc0\x0c\x00\x01\x00\x01' + struct.pack('>IH', 300, 4) + socket.inet_aton(address)
        s.sendto(data[:2] + b'\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00' + question + record, peer)


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(directory + '/tls/server.pem')
for where in (address, other):
    spawn(accept, listen(where))
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(('8.8.8.8', 53))
spawn(dns, names)
print('READY', flush=True)
sys.stdin.read()
