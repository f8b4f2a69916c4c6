// Needs two public addresses that a namespace beside the host owns, with an echo server at port 8080 of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sandbox, e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const ONE = process.env.CAY_OUTSIDE_ONE
const TWO = process.env.CAY_OUTSIDE_TWO
const ALL = e2b.ALL_TRAFFIC

async function reaches(box, address) {
  const script = `timeout 3 bash -c 'exec 3<>/dev/tcp/${address}/8080 && echo hi >&3 && read -r x <&3 && echo open' 2>/dev/null || echo shut`
  return (await box.commands.run(script)).stdout.trim() === 'open'
}
const allows = async (box) => [await reaches(box, ONE), await reaches(box, TWO)]

test('a sandbox without rules reaches both addresses', async () => {
  assert.deepEqual(await allows(await sandbox()), [true, true])
})

test('Sandbox.create allows addresses and denies the rest', async () => {
  const box = await sandbox({ network: { allowOut: [ONE], denyOut: [ALL] } })
  assert.deepEqual(await allows(box), [true, false])
  assert.deepEqual((await box.getInfo()).network.allowOut, [ONE])
  assert.deepEqual((await box.getInfo()).network.denyOut, [ALL])
})

test('Sandbox.create denies some addresses, with selectors that the client resolves', async () => {
  const box = await sandbox({ network: { denyOut: () => [`${TWO}/32`] } })
  assert.deepEqual(await allows(box), [true, false])
  const none = await sandbox({ network: { denyOut: ({ allTraffic }) => [allTraffic] } })
  assert.deepEqual(await allows(none), [false, false])
})

test('updateNetwork replaces the rules of a running sandbox', async () => {
  const box = await sandbox({ network: { allowOut: [ONE], denyOut: [ALL] } })
  await box.updateNetwork({ allowOut: [TWO], denyOut: [ALL] })
  assert.deepEqual(await allows(box), [false, true])
  await Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false })
  assert.deepEqual(await allows(box), [false, false])
  await box.updateNetwork({})
  assert.deepEqual(await allows(box), [true, true])
  assert.equal((await box.getInfo()).network.allowOut, undefined)
})

test('updateNetwork cuts connections that are open', async () => {
  const box = await sandbox()
  await box.files.write('hold.py', `
import socket, sys, time
s = socket.create_connection(('${ONE}', 8080))
f = s.makefile('rw')
print('open', flush=True)
while True:
    f.write('x\\n'); f.flush()
    if not f.readline(): break
    time.sleep(0.05)`)
  let output = ''
  const held = await box.commands.run('exec python3 hold.py 2>&1', {
    background: true,
    onStdout: (text) => { output += text },
  })
  await until('the connection', () => output.includes('open'))
  await box.updateNetwork({ denyOut: [ONE] })
  await assert.rejects(held.wait(), (error) => /ConnectionReset|Connection reset/.test(output + error.message))
})

test('rules are kept by pause, resume, fork and snapshots tell nothing of them', async () => {
  const box = await sandbox({ network: { allowOut: [ONE], denyOut: [ALL] } })
  await box.pause()
  await box.connect()
  assert.deepEqual(await allows(box), [true, false])
  const [{ sandbox: copy }] = [].concat(await forked(box))
  try {
    assert.deepEqual(await allows(copy), [true, false])
    assert.deepEqual((await copy.getInfo()).network.allowOut, [ONE])
  } finally {
    await copy.kill()
  }
})

async function forked(box) {
  const made = await box.fork({ timeoutMs: 300_000 })
  const first = Array.isArray(made) ? made[0] : made
  return first.sandbox ? first : { sandbox: first }
}

test('what makes no sense is refused with the words of the contract', async () => {
  const cases = [
    [{ allowOut: ['nonsense!'] }, /invalid allowed address nonsense!/],
    [{ denyOut: ['example.org'] }, /invalid denied CIDR example.org/],
    [{ allowOut: ['example.org'] }, /denyOut/],
    [{ egressProxy: { address: '10.0.0.1:1080' } }, /Invalid egress proxy config/],
    [{ rules: { '*': [{ transform: { headers: { a: 'b' } } }] } }, /not a valid domain name/],
    [{ httpsPorts: [49983] }, /httpsPorts/],
  ]
  for (const [network, words] of cases) await assert.rejects(Sandbox.create({ network }), words)
})

test('the password of a proxy is never told', async () => {
  const box = await sandbox({
    network: { egressProxy: { address: `${ONE}:1080`, username: 'me', password: 'hidden-word' } },
  })
  const { network } = await box.getInfo()
  assert.deepEqual(network.egressProxy, { address: `${ONE}:1080`, username: 'me' })
})

test('httpsPorts: the edge speaks TLS to the server inside', async () => {
  const box = await sandbox({ network: { httpsPorts: [9443] } })
  assert.deepEqual((await box.getInfo()).network.httpsPorts, [9443])
  await box.files.write('tls.py', `
import http.server, ssl
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 9443), H)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain('cert.pem', 'key.pem')
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()`)
  await box.commands.run('openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=own')
  await box.commands.run('exec python3 tls.py', { background: true, timeoutMs: 0 })
  const body = 'x'.repeat(300_000)
  const answer = await until('the server', async () => {
    const made = await fetch(`https://${box.getHost(9443)}/`, { method: 'POST', body }).catch(() => undefined)
    return made?.status === 200 ? made : undefined
  })
  assert.equal(await answer.text(), body)
  const plain = await sandbox()
  await plain.files.write('tls.py', await box.files.read('tls.py'))
  await plain.files.write('cert.pem', await box.files.read('cert.pem'))
  await plain.files.write('key.pem', await box.files.read('key.pem'))
  await plain.commands.run('exec python3 tls.py', { background: true, timeoutMs: 0 })
  await until('the other server', async () => (await plain.commands.run('ss -Htln sport = :9443')).stdout)
  const control = await fetch(`https://${plain.getHost(9443)}/`, { method: 'POST', body: 'x' })
  assert.equal(control.status, 502, 'without httpsPorts the server inside hears no TLS')
})

test('rules set headers on requests to another sandbox', async () => {
  const server = await sandbox()
  await server.files.write('echo.py', `
import http.server, json
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({'headers': {k: self.headers.get_all(k) for k in self.headers.keys()}}).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
http.server.ThreadingHTTPServer(('0.0.0.0', 8080), H).serve_forever()`)
  await server.commands.run('exec python3 echo.py', { background: true, timeoutMs: 0 })
  const host = server.getHost(8080)
  await until('the server', async () => (await fetch(`https://${host}/`).catch(() => ({}))).status === 200)
  const rules = { [host]: [{ transform: { headers: { 'X-Test-Token': 'transform-value-123' } } }] }
  const client = await sandbox({ network: { rules } })
  const ask = `curl -sS -H 'X-Test-Token: forged' https://${host}/headers`
  const told = JSON.parse((await client.commands.run(ask)).stdout)
  assert.deepEqual(told.headers['X-Test-Token'], ['transform-value-123'])
  await client.updateNetwork({})
  // Over HTTP/2 names are in lower case.
  assert.deepEqual(JSON.parse((await client.commands.run(ask)).stdout).headers['x-test-token'], ['forged'])
})

/** As E2B's own case has it: a template that answers as httpbin does, and a rule with the host that the client makes. */
test('firewall transform injects headers', async () => {
  const { Template, waitForPort } = e2b
  const name = `httpbin-${Date.now()}`
  const headers = `
import http.server, json
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = {}
        for name, value in self.headers.items(): found.setdefault('-'.join(p.capitalize() for p in name.split('-')), []).append(value)
        body = json.dumps({'headers': found}).encode()
        self.send_response(200 if self.path == '/headers' else 404)
        self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
http.server.ThreadingHTTPServer(('0.0.0.0', 8080), H).serve_forever()`
  const encoded = Buffer.from(headers).toString('base64')
  await Template.build(
    Template().fromTemplate('base').runCmd(`echo ${encoded} | base64 -d > /home/user/httpbin.py`)
      .setStartCmd('python3 /home/user/httpbin.py', waitForPort(8080)),
    name)
  const server = await Sandbox.create(name, { timeoutMs: 300_000 })
  try {
    const host = server.getHost(8080)
    assert.match(host, /^8080-.*:\d+$/, 'a host with a port, which rules cut off')
    const client = await sandbox({
      network: { rules: { [host]: [{ transform: { headers: { 'X-Test-Token': 'e2b-transform-value-123' } } }] } },
    })
    const told = JSON.parse((await client.commands.run(`curl -sS https://${host}/headers`)).stdout)
    assert.deepEqual(told.headers['X-Test-Token'], ['e2b-transform-value-123'])
  } finally {
    await server.kill()
    await fetch(`https://api.${process.env.E2B_DOMAIN}/templates/${name}`, {
      method: 'DELETE', headers: { 'X-API-Key': process.env.E2B_API_KEY },
    })
  }
})
