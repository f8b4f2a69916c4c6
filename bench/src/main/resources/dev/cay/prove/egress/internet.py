"""The internet of a lab: web servers, name servers and echo servers at addresses that this namespace owns."""
import http.server
import json
import socket
import ssl
import struct
import sys
import threading

directory, allowed, evil = sys.argv[1:4]
DNS = ('8.8.8.8', '1.1.1.1')
NAMES = {'www.allowed.test': allowed, 'evil.test': evil, 'redirect.allowed.test': allowed, 'mcp.allowed.test': evil,
         'auth.allowed.test': evil}
GUARDED, AUTHORIZATION = 'https://www.allowed.test/guarded', 'https://auth.allowed.test'
# What a remote MCP server and the authorization server that it names say of themselves.
DESCRIPTIONS = {
    '/.well-known/oauth-protected-resource/guarded': {'resource': GUARDED, 'authorization_servers': [AUTHORIZATION]},
    '/.well-known/oauth-authorization-server': {
        'issuer': AUTHORIZATION, 'authorization_endpoint': AUTHORIZATION + '/authorize',
        'token_endpoint': AUTHORIZATION + '/token', 'registration_endpoint': AUTHORIZATION + '/register',
        'response_types_supported': ['code'], 'code_challenge_methods_supported': ['S256']},
}
EVIL6 = '2001:db8:66::3'
asked = {}


def spawn(action, *arguments):
    threading.Thread(target=action, args=arguments, daemon=True).start()


def listen(address, port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(64)
    return s


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        host = self.headers.get('Host', '')
        if self.path == '/redirect':
            self.send_response(302)
            self.send_header('Location', 'http://evil.test/secret')
            self.send_header('Content-Length', '0')
            self.end_headers()
            return
        if self.headers.get('Upgrade', '').lower() == 'websocket':
            self.send_response(101)
            self.send_header('Upgrade', 'websocket')
            self.send_header('Connection', 'Upgrade')
            self.end_headers()
            self.wfile.write(('REACHED %s\n' % self.server.server_address[0]).encode())
            self.close_connection = True
            return
        if self.path in DESCRIPTIONS:
            self.answer_json(200, DESCRIPTIONS[self.path])
            return
        said = {'server': self.server.server_address[0], 'host': host, 'lab': self.headers.get('X-Lab')}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status, content, *headers):
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        """A server of MCP, to which everything may be sent; one that wants an authorization; and one that gives them."""
        sent = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        if self.path == '/register':
            self.answer_json(201, {'client_id': 'lab', **json.loads(sent)})
            return
        if self.path == '/guarded':
            where = AUTHORIZATION + '/.well-known/oauth-protected-resource/guarded'
            self.answer_json(401, {}, ('WWW-Authenticate', 'Bearer resource_metadata="%s"' % where))
            return
        asked = json.loads(sent)
        results = {
            'initialize': {'protocolVersion': asked.get('params', {}).get('protocolVersion', '2025-06-18'),
                           'capabilities': {'tools': {}}, 'serverInfo': {'name': 'lab', 'version': '1'}},
            'tools/list': {'tools': [{'name': 'leak', 'inputSchema': {'type': 'object'}}]},
        }
        if 'id' not in asked:
            self.send_response(202)
            self.send_header('Content-Length', '0')
            self.end_headers()
            return
        answer = {'jsonrpc': '2.0', 'id': asked['id'], 'result': results.get(asked['method'], {})}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'REACHED by CONNECT\n')
        self.close_connection = True


def http2(c):
    """Answers each request of HTTP/2 with the part of its head that names the host, if that is written out."""
    frames = c.makefile('rwb')
    frames.read(len('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))
    frames.write(b'\0\0\0\4\0\0\0\0\0')
    frames.flush()
    while len(head := frames.read(9)) == 9:
        content = frames.read(int.from_bytes(head[:3], 'big'))
        if head[3] == 4 and not head[4] & 1:
            frames.write(b'\0\0\0\4\1\0\0\0\0')
        if head[3] == 1:
            said = b'host evil.test' if b'evil.test' in content else b'another host'
            frames.write(b'\0\0\1\1\4' + head[5:] + b'\x88' + len(said).to_bytes(3, 'big') + b'\0\1' + head[5:] + said)
        frames.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def finish_request(self, request, address):
        if isinstance(request, ssl.SSLSocket) and request.selected_alpn_protocol() == 'h2':
            http2(request)
        else:
            super().finish_request(request, address)

    def __init__(self, place, handler):
        self.address_family = socket.AF_INET6 if ':' in place[0] else socket.AF_INET
        super().__init__(place, handler)

    def handle_error(self, *arguments):
        pass


def web(address, port, secure):
    server = Server((address, port), Web)
    if secure:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(directory + '/tls/server.pem')
        tls.set_alpn_protocols(['h2', 'http/1.1'])
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    spawn(server.serve_forever)


def echo(c):
    try:
        while data := c.recv(65536):
            c.sendall(data)
    except OSError:
        pass
    finally:
        c.close()


def accept(s):
    while True:
        spawn(echo, s.accept()[0])


def echo_datagrams(s):
    while True:
        data, peer = s.recvfrom(65536)
        s.sendto(data, peer)


def answer(data):
    name, at = [], 12
    while data[at]:
        name.append(data[at + 1:at + 1 + data[at]].decode('latin1'))
        at += 1 + data[at]
    kind = struct.unpack('>H', data[at + 1:at + 3])[0]
    question = data[12:at + 5]
    name = '.'.join(name).lower()
    asked[name] = asked.get(name, 0) + 1
    address = NAMES.get(name)
    if name.endswith('.evil.test'):
        address = evil
    if name == 'rebind.allowed.test':
        address = allowed if asked[name] == 1 else '10.1.2.3'
    if not address:
        return data[:2] + b'\x81\x83\x00\x01\x00\x00\x00\x00\x00\x00' + question
    content = {1: socket.inet_aton(address), 16: b'\x05hello', 65: b'\x00\x01\x00\x00\x05\x00\x04\xfe\x0d\x00\x00'}.get(kind)
    if not content:
        return data[:2] + b'\x81\x80\x00\x01\x00\x00\x00\x00\x00\x00' + question
    record = b'\xc0\x0c' + struct.pack('>HHIH', kind, 1, 0, len(content)) + content
    return data[:2] + b'\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00' + question + record


def dns(s):
    while True:
        data, peer = s.recvfrom(4096)
        try:
            s.sendto(answer(data), peer)
        except (IndexError, struct.error):
            pass


def dns_stream(s):
    while True:
        c, _ = s.accept()
        try:
            c.settimeout(3)
            length = struct.unpack('>H', c.recv(2))[0]
            reply = answer(c.recv(length))
            c.sendall(struct.pack('>H', len(reply)) + reply)
        except (OSError, IndexError, struct.error):
            pass
        finally:
            c.close()


def datagrams(address, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, port))
    return s


for place in (allowed, evil, '10.1.2.3', EVIL6) + DNS:
    web(place, 80, False)
    web(place, 443, True)
for place in DNS:
    web(place, 853, True)
    spawn(dns, datagrams(place, 53))
    spawn(dns_stream, listen(place, 53))
spawn(accept, listen(evil, 7))
spawn(echo_datagrams, datagrams(evil, 443))
print('READY', flush=True)
sys.stdin.read()
