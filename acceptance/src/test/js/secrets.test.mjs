import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { note, test } from './cases.mjs'
import { e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const { Secret, SecretNotFoundError } = e2b
const skip = !Secret
if (Secret) note('Secret', new Secret())

/** A sandbox that stands for a service: it answers with the headers and the body that it gets. */
async function service() {
  const server = await sandbox()
  await server.files.write('echo.py', `
import http.server, json
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        open('/tmp/got', 'a').write(str(self.headers) + body)
        answer = json.dumps({'authorization': self.headers['Authorization'], 'body': body}).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(answer))); self.end_headers()
        self.wfile.write(answer)
http.server.ThreadingHTTPServer(('0.0.0.0', 8080), H).serve_forever()`)
  await server.commands.run('exec python3 echo.py', { background: true, timeoutMs: 0 })
  await until('the service', async () => (await server.commands.run('ss -Htln sport = :8080')).stdout)
  return { server, host: server.getHost(8080) }
}
const ask = async (agent, host) => {
  const said = await agent.commands.run(
    `curl -sS --retry 10 --retry-all-errors -H "Authorization: Bearer $KEY" -d "k=$KEY" https://${host}/`)
  return JSON.parse(said.stdout)
}

test('Secret.create, getInfo, update, exists and destroy', {
  skip, covers: ['Secret.create', 'Secret.getInfo', 'Secret.update', 'Secret.exists', 'Secret.destroy'],
}, async () => {
  const name = `Key-${randomUUID()}`
  const made = await Secret.create(name, 'sk-first', { metadata: { owner: 'tests' } })
  assert.match(made.secretId, /^sec_/)
  assert.equal(made.name, name.toLowerCase())
  assert.equal(made.version, 1)
  assert.deepEqual(made.metadata, { owner: 'tests' })
  assert.ok(made.createdAt instanceof Date)
  assert.deepEqual(await Secret.getInfo(made.secretId), await Secret.getInfo(name))

  const kept = await Secret.update(name, 'sk-second')
  assert.equal(kept.version, 2)
  assert.deepEqual(kept.metadata, { owner: 'tests' })
  assert.deepEqual((await Secret.update(made.secretId, 'sk-third', { metadata: {} })).metadata, {})
  assert.ok(!JSON.stringify(await Secret.getInfo(name)).includes('sk-'))

  assert.equal(await Secret.exists(name), true)
  assert.equal(await Secret.destroy(name), true)
  assert.equal(await Secret.destroy(name), false)
  assert.equal(await Secret.exists(name), false)
  await assert.rejects(Secret.getInfo(name), SecretNotFoundError)
})

test('Secret.list gives all pages', { skip, covers: ['Secret.list'] }, async () => {
  const names = Array.from({ length: 3 }, () => randomUUID())
  for (const name of names) await Secret.create(name, 'value')
  try {
    const found = []
    const pages = Secret.list({ limit: 2 })
    while (pages.hasNext) found.push(...(await pages.nextItems()).map(({ name }) => name))
    for (const name of names) assert.ok(found.includes(name))
  } finally {
    for (const name of names) await Secret.destroy(name)
  }
})

test('a secret with a name that is taken or wrong is refused', { skip }, async () => {
  const name = randomUUID()
  await Secret.create(name, 'value')
  try {
    await assert.rejects(Secret.create(name, 'value'), /already exists/)
    await assert.rejects(Secret.create('a b', 'value'), /'name' must be/)
    await assert.rejects(Secret.create('sec_x', 'value'), /sec_/)
  } finally {
    await Secret.destroy(name)
  }
})

test('a sandbox holds a placeholder, and the service gets the value', { skip, covers: ['Secret.fill'] }, async () => {
  const name = randomUUID()
  const value = `sk-${randomUUID()}`
  await Secret.create(name, value)
  try {
    const { server, host } = await service()
    const { host: other } = await service()
    const transform = { fill: { secrets: [name], in: ['headers', 'body'] } }
    const agent = await sandbox({
      envs: { KEY: Secret.fill(name) },
      network: { rules: { [host]: [{ transform }] } },
    })
    assert.equal((await agent.commands.run('echo $KEY')).stdout.trim(), `\${e2b.secrets.${name}}`)
    const stars = '*'.repeat(value.length)
    assert.deepEqual(await ask(agent, host), { authorization: `Bearer ${stars}`, body: `k=${stars}` })
    const got = (await server.commands.run('cat /tmp/got')).stdout
    assert.ok(got.includes(`Bearer ${value}`) && got.includes(`k=${value}`))
    assert.equal((await ask(agent, other)).authorization, `Bearer ${Secret.fill(name)}`, 'no rule, no value')
    const shown = (await agent.getInfo()).network.rules
    assert.deepEqual(Object.values(shown)[0][0].transform.fill, transform.fill)
  } finally {
    await Secret.destroy(name)
  }
})

test('an identity token of iam.tokens says which sandbox it is', { skip, covers: ['Secret.iamToken'] }, async () => {
  const { host } = await service()
  const agent = await sandbox({
    envs: { KEY: 'replaced' },
    iam: { tokens: { aws: Secret.iamToken({ audience: 'sts', tokenType: 'JWT-SVID' }) } },
    network: { rules: { [host]: [{ transform: ({ iam }) => ({ headers: { Authorization: `Bearer ${iam.tokens.aws}` } }) }] } },
  })
  const told = await ask(agent, host)
  assert.match(told.authorization ?? '', /^Bearer .*\..*\./, JSON.stringify(told))
  const claims = JSON.parse(Buffer.from(told.authorization.split('.')[1], 'base64url'))
  assert.equal(claims.aud, 'sts')
  assert.ok(claims.sub.endsWith(`/sandbox/${agent.sandboxId}`))
})
