"""A service outside: a name server that knows one name, and an HTTPS server that notes and repeats what it gets.

By the name `front.service.test` it is a reverse proxy in front of the HTTP server in argv[4]. For `wrong.service.test` it has
the certificate in argv[5], of an authority that nobody trusts, and for `elsewhere.test` one for other names.
"""
import base64
import hashlib
import http.client
import http.server
import json
import socket
import ssl
import struct
import sys
import threading

address, certificate, notes, behind, wrong = sys.argv[1:6]


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *arguments):
        pass

    def body(self):
        if self.headers.get('Transfer-Encoding', '').lower() != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length', 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b''.join(parts)

    def answer(self):
        if self.headers['Host'].startswith('front.'):
            return self.front()
        if self.headers.get('Upgrade', '').lower() == 'websocket':
            return self.socket()
        if self.path.startswith('/repeat'):
            return self.repeat()
        body = self.body()
        seen = json.dumps({
            'host': self.headers.get('Host'),
            'target': self.path,
            'headers': {name.lower(): value for name, value in self.headers.items()},
            'body': body.decode('latin-1'),
        })
        with open(notes, 'a') as file:
            file.write(seen + '\n')
        self.send_response(200)
        self.send_header('X-Repeated', self.headers.get('Authorization', '-'))
        self.send_header('Content-Length', str(len(seen)))
        self.end_headers()
        self.wfile.write(seen.encode())

    def repeat(self):
        """Tells the length and the digest of the body, and repeats `Authorization` again and again in as many bytes."""
        digest, left = hashlib.sha256(), int(self.headers['Content-Length'])
        length = left
        while left:
            piece = self.rfile.read(min(left, 1 << 20))
            digest.update(piece)
            left -= len(piece)
        with open(notes, 'a') as file:
            file.write(json.dumps({'large': length, 'digest': digest.hexdigest()}) + '\n')
        word = self.headers.get('Authorization', '-').encode() + b' '
        self.send_response(200)
        self.send_header('Content-Length', str(length))
        self.end_headers()
        pieces = word * (1 + (1 << 20) // len(word))
        while length:
            piece = pieces[:length]
            self.wfile.write(piece)
            length -= len(piece)

    def front(self):
        passed = http.client.HTTPConnection(behind, timeout=30)
        passed.request(self.command, self.path, self.body(), dict(self.headers))
        answer = passed.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = answer

    def socket(self):
        """Repeats `Authorization` in one message, in a message of three pieces, and what it offered to compress."""
        word = self.headers.get('Authorization', '-').encode()
        with open(notes, 'a') as file:
            file.write(json.dumps({'socket': word.decode()}) + '\n')
        key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        self.send_response(101)
        self.send_header('Upgrade', 'websocket')
        self.send_header('Connection', 'Upgrade')
        self.send_header('X-Repeated', word.decode())
        self.send_header('Sec-WebSocket-Accept', base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        half = len(word) // 2
        offered = self.headers.get('Sec-WebSocket-Extensions', 'none').encode()
        # A ping between pieces, and a first byte of the value at the end of a message, which nothing may hold back.
        for first, piece in ((0x81, word), (0x01, word[:half]), (0x89, b'ping'), (0x00, word[half:-1]),
                             (0x80, word[-1:]), (0x81, b'offered ' + offered), (0x81, word[:-1])):
            self.wfile.write(bytes([first, len(piece)]) + piece)
            self.wfile.flush()
        # Waits for the client: what it has of the messages must not depend on the end of the connection.
        self.rfile.read(1)
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *arguments):
        pass


def names(sock):
    while True:
        question, sender = sock.recvfrom(512)
        end = 12
        labels = []
        while question[end]:
            labels.append(question[end + 1:end + 1 + question[end]].decode().lower())
            end += question[end] + 1
        asked = question[12:end + 5]
        known = '.'.join(labels).endswith(('service.test', 'elsewhere.test')) and asked[-4:-2] == b'\0\1'
        head = question[:2] + (b'\x81\x80' if known else b'\x81\x83') + struct.pack('>4H', 1, 1 if known else 0, 0, 0)
        answer = b'\xc0\x0c\0\1\0\1' + struct.pack('>IH', 60, 4) + socket.inet_aton(address) if known else b''
        sock.sendto(head + asked + answer, sender)


listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind((address, 53))
threading.Thread(target=names, args=(listener,), daemon=True).start()
server = Server((address, 443), Echo)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(certificate)
other = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
other.load_cert_chain(wrong)


def choose(connection, name, _):
    if name == 'wrong.service.test':
        connection.context = other


tls.sni_callback = choose
server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print('READY', flush=True)
server.serve_forever()
