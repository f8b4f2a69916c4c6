import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import https from 'node:https'
import { before, test } from 'node:test'
import { until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

const serve = (port, bind) =>
  box.commands.run(`mkdir -p www && echo from ${port} > www/index.html && cd www && exec python3 -m http.server ${port} --bind ${bind}`, {
    background: true,
    timeoutMs: 0,
  })
const answers = (url) => until(url, async () => {
  const answer = await fetch(url).catch(() => undefined)
  return answer?.status === 200 ? answer : undefined
})

for (const [port, bind] of [[8000, '0.0.0.0'], [8001, '127.0.0.1'], [8002, '::1']]) {
  test(`getHost reaches a server bound to ${bind}`, async () => {
    await serve(port, bind)
    const answer = await answers(`https://${box.getHost(port)}/`)
    assert.match(await answer.text(), /^from \d+\n$/)
  })
}

test('a closed port answers 502 and says which', async () => {
  const answer = await fetch(`https://${box.getHost(9999)}/`)
  assert.equal(answer.status, 502)
  const body = await answer.json()
  assert.equal(body.port, 9999)
  assert.equal(body.code, 502)
  assert.equal(body.sandboxId, box.sandboxId)
})

test('an unknown sandbox answers 502', async () => {
  const host = box.getHost(8000).replace(box.sandboxId, 'i00000000000000000000')
  const answer = await fetch(`https://${host}/`)
  assert.equal(answer.status, 502)
  assert.equal((await answer.json()).code, 502)
})

test('answers stream through', async () => {
  await box.files.write('drip.py', `
import http.server, time
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200); self.send_header('Transfer-Encoding', 'chunked'); self.end_headers()
        for i in range(4):
            data = b'%d\\n' % i
            self.wfile.write(b'%x\\r\\n%s\\r\\n' % (len(data), data)); self.wfile.flush(); time.sleep(0.2)
        self.wfile.write(b'0\\r\\n\\r\\n')
http.server.ThreadingHTTPServer(('127.0.0.1', 8003), H).serve_forever()`)
  await box.commands.run('exec python3 drip.py', { background: true, timeoutMs: 0 })
  const answer = await answers(`https://${box.getHost(8003)}/`)
  const times = []
  for await (const _ of answer.body) times.push(Date.now())
  assert.ok(times.length >= 3 && times.at(-1) - times[0] > 300, 'came one by one')
})

test('a WebSocket goes through', async () => {
  await box.files.write('echo_ws.py', `
import base64, hashlib, socket
server = socket.create_server(('127.0.0.1', 8004))
while True:
    peer, _ = server.accept()
    head = b''
    while b'\\r\\n\\r\\n' not in head: head += peer.recv(4096)
    key = [l.split(b': ', 1)[1] for l in head.split(b'\\r\\n') if l.lower().startswith(b'sec-websocket-key')]
    if not key: peer.close(); continue
    accept = base64.b64encode(hashlib.sha1(key[0] + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
    peer.sendall(b'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + b'\\r\\n\\r\\n')
    frame = peer.recv(4096)
    size = frame[1] & 127
    text = bytes(b ^ frame[2 + i % 4] for i, b in enumerate(frame[6:6 + size]))
    peer.sendall(bytes([0x81, size]) + text)
    peer.recv(4096)
    peer.close()
`)
  await box.commands.run('exec python3 echo_ws.py', { background: true, timeoutMs: 0 })
  await until('the server', async () => (await box.commands.run('ss -Htln sport = :8004')).stdout !== '')
  const echoed = await upgrade(box.getHost(8004), 'hello through the edge')
  assert.equal(echoed, 'hello through the edge')
})

/** A WebSocket by hand, as Node 20 has none: one masked text frame there, one frame back. */
function upgrade(host, text) {
  return new Promise((resolve, reject) => {
    const request = https.request(`https://${host}/`, {
      headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': randomBytes(16).toString('base64') },
    })
    request.on('upgrade', (_, socket) => {
      socket.once('data', (frame) => {
        socket.destroy()
        resolve(frame.subarray(2, 2 + (frame[1] & 127)).toString())
      })
      const mask = randomBytes(4)
      const payload = Buffer.from(text).map((byte, i) => byte ^ mask[i % 4])
      socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length]), mask, payload]))
    })
    request.on('response', (answer) => reject(new Error(`no upgrade: ${answer.statusCode}`)))
    request.on('error', reject)
    request.setTimeout(10_000, () => request.destroy(new Error('no answer')))
    request.end()
  })
}

test('the edge is found from inside too, and its certificate is trusted there', async () => {
  const url = `https://${box.getHost(49983)}/health`
  const curl = await box.commands.run(`curl -s -o /dev/null -w '%{http_code}' ${url}`)
  assert.equal(curl.stdout, '204')
  const python = await box.commands.run(`python3 -c "import urllib.request as u; print(u.urlopen('${url}').status)"`)
  assert.equal(python.stdout, '204\n')
  const node = await box.commands.run(`node -e "fetch('${url}').then(a => console.log(a.status))"`)
  assert.equal(node.stdout, '204\n')
  const own = await box.commands.run(`curl -s -o /dev/null -w '%{http_code}' http://localhost:49983/health`)
  assert.equal(own.stdout, '204')
})
