import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sandbox, until } from './client.mjs'

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
