// The gateway under all that servers and clients do to it. Which servers there are behind it is up to the platform's
// configuration: `fixtures` and `watched` run fixtures-server.mjs, the latter with interceptors; `hostile_MODE` runs hostile-server.mjs MODE, for each mode named here, and `image_MODE` the same from an image.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../client.mjs'
import { connect, create, textOf, tokenOf, urlOf } from './gateway.mjs'

/** Ways to behave after which a call gets an error, an answer or nothing, while others get theirs. */
const HOSTILE = [
  'silent-call', 'wrong-ids', 'twice', 'flood', 'flood-at-start', 'progress-flood', 'long-line', 'endless-line', 'exit-after-call',
  'exit-on-call', 'close-stdout', 'stderr-flood', 'garbage', 'deep', 'sampling', 'unknown-requests', 'restless', 'old-revision',
]
const key = (mode, kind = 'hostile') => `${kind}_${mode.replaceAll('-', '_')}`
const LIMIT = 20_000

const open = new Set()
async function sandboxWith(mcp) {
  const sandbox = await create({ mcp, timeoutMs: 300_000 })
  open.add(sandbox)
  return sandbox
}
after(async () => Promise.all([...open].map((sandbox) => sandbox.kill())))

let sandbox
before(async () => {
  sandbox = await sandboxWith({ fixtures: {} })
})

const named = (tools, end) => tools.map((tool) => tool.name).find((name) => name.endsWith(end))

test('progress, logging and errors come through', async () => {
  const client = await connect(sandbox)
  const { tools } = await client.listTools()
  const heard = []
  const done = await client.callTool({ name: named(tools, 'test_tool_with_progress'), arguments: {} }, undefined, {
    onprogress: ({ progress }) => heard.push(progress),
  })
  assert.match(textOf(done), /successfully/)
  assert.deepEqual(heard, [0, 50, 100])
  assert.ok((await client.callTool({ name: named(tools, 'test_error_handling'), arguments: {} })).isError)
  await assert.rejects(client.callTool({ name: 'no-such-tool', arguments: {} }), /-32602/)
  await client.close()
})

test('eight clients with three calls each do not hear each other', async () => {
  const clients = await Promise.all(Array.from({ length: 8 }, () => connect(sandbox)))
  const { tools } = await clients[0].listTools()
  const name = named(tools, 'json_schema_2020_12_tool')
  await Promise.all(clients.map(async (client, n) => {
    for (let call = 0; call < 3; call++) {
      const mine = { name: `client ${n} call ${call}`, contactMethod: 'phone', phone: `${n}${call}` }
      assert.deepEqual(JSON.parse(textOf(await client.callTool({ name, arguments: mine }))), mine)
    }
  }))
  await Promise.all(clients.map((client) => client.close()))
})

test('three megabytes in and out', async () => {
  const client = await connect(sandbox)
  const { tools } = await client.listTools()
  const mine = { name: 'x'.repeat(3 << 20), email: 'a@b.c' }
  const back = await client.callTool({ name: named(tools, 'json_schema_2020_12_tool'), arguments: mine })
  assert.equal(JSON.parse(textOf(back)).name.length, 3 << 20)
  await client.close()
})

test('sixty clients that went without a word do no harm', async () => {
  for (let n = 0; n < 60; n++) await (await connect(sandbox)).wire.close()
  const client = await connect(sandbox)
  assert.ok((await client.listTools()).tools.length > 0)
  await client.wire.terminateSession()
  await assert.rejects(client.listTools())
})

const misbehave = (kind) => async () => {
  const all = await sandboxWith({ fixtures: {}, ...Object.fromEntries(HOSTILE.map((mode) => [key(mode, kind), {}])) })
  const client = await connect(all)
  const list = async () => (await client.listTools(undefined, { timeout: 120_000 })).tools.map((tool) => tool.name)
  // Servers that start late are listed later, those of an image when it is pulled.
  const bad = await until('the tools of the honest server and of most others', async () => {
    const names = await list()
    const others = names.filter((name) => name.endsWith('echo'))
    return names.includes('test_simple_text') && others.length > HOSTILE.length / 2 && others
  })
  const calls = bad.map((name) => client.callTool({ name, arguments: {} }, undefined, { timeout: LIMIT }).catch((e) => e))
  for (let n = 0; n < 10; n++) {
    const answer = await client.callTool({ name: 'test_simple_text', arguments: {} }, undefined, { timeout: LIMIT })
    assert.match(textOf(answer), /simple text response/)
  }
  await Promise.all(calls)
  await client.close()
  await all.kill()
  open.delete(all)
}
test('servers that misbehave in every way at once harm nobody else', misbehave('hostile'))
test('images that misbehave in every way at once harm nobody else', misbehave('image'))

test('a client goes on after a pause, and so does what its server remembers', async () => {
  const own = await sandboxWith({ fixtures: {} })
  const client = await connect(own)
  const another = await connect(own)
  const names = async (one) => (await one.listTools()).tools.map((tool) => tool.name)
  assert.ok(!(await names(another)).includes('test_extra_tool'))
  await client.callTool({ name: (await names(client)).find((name) => name.endsWith('test_trigger_tool_change')), arguments: {} })
  const before = await names(client)
  assert.ok(before.includes('test_extra_tool'), before.join())
  const session = client.wire.sessionId
  await own.pause()
  await own.connect()
  assert.deepEqual(await names(client), before)
  assert.equal(client.wire.sessionId, session)
  assert.ok(!(await names(another)).includes('test_extra_tool'))
  await client.close()
  await another.close()
})

test('whatever tools are called, clients get names they accept', async () => {
  const evil = await sandboxWith({ [key('evil-names')]: {} })
  const client = await connect(evil)
  const names = (await client.listTools()).tools.map((tool) => tool.name)
  assert.ok(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)), names.join())
  assert.equal(new Set(names).size, names.length)
  await client.close()
})

test('a server that does not start leaves the others, and its reason in the log', async () => {
  const half = await sandboxWith({ fixtures: {}, [key('exit-at-start')]: {} })
  const client = await connect(half)
  assert.ok(named((await client.listTools()).tools, 'test_simple_text'))
  // It is written a moment after it is said.
  for (let tries = 0; ; tries++) {
    const { stdout } = await half.commands.run('cat /var/log/mcp-gateway/gateway.log', { user: 'root' })
    if (/SECRET_KEY is not set/.test(stdout)) break
    assert.ok(tries < 40, stdout)
    await new Promise((resume) => setTimeout(resume, 250))
  }
  await client.close()
})

test('a browser of another site is refused', async () => {
  const headers = { Authorization: `Bearer ${await tokenOf(sandbox)}`, Origin: 'https://evil.example' }
  assert.equal((await fetch(urlOf(sandbox), { method: 'POST', headers, body: '{}' })).status, 403)
})

test('an unknown session is not found', async () => {
  const headers = {
    Authorization: `Bearer ${await tokenOf(sandbox)}`, 'Mcp-Session-Id': 'nobody', 'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  assert.equal((await fetch(urlOf(sandbox), { method: 'POST', headers, body })).status, 404)
})

test('a model finds, adds, calls and removes servers by tools', async () => {
  const bare = await sandboxWith({})
  await bare.commands.run("mcp-gateway --config '{}' --meta-tools only", { user: 'root' })
  const client = await connect(bare)
  const names = async () => (await client.listTools()).tools.map((tool) => tool.name)
  const own = ['mcp-find', 'mcp-add', 'mcp-remove', 'mcp-exec']
  assert.deepEqual(await names(), own)
  const call = (name, args) => client.callTool({ name, arguments: args })
  const find = async () => (await call('mcp-find', { query: 'fixtures' })).structuredContent.servers.find(({ key }) => key === 'fixtures')
  assert.deepEqual([(await find()).startable, (await find()).added], [true, false])
  assert.match(textOf(await call('mcp-add', { name: 'fixtuers' })), /did you mean fixtures/)
  const added = await call('mcp-add', { name: 'fixtures' })
  assert.ok(added.structuredContent.tools.includes('test_simple_text'), textOf(added))
  assert.deepEqual(await names(), own)
  assert.equal((await find()).added, true)
  const heard = []
  const exec = { name: 'mcp-exec', arguments: { name: 'test_tool_with_progress' } }
  const done = await client.callTool(exec, undefined, { onprogress: ({ progress }) => heard.push(progress) })
  assert.match(textOf(done), /successfully/)
  assert.deepEqual(heard, [0, 50, 100])

  // All of it is kept, with the choice.
  await bare.pause()
  await bare.connect()
  const again = await connect(bare)
  assert.deepEqual((await again.listTools()).tools.map((tool) => tool.name), own)
  const simple = { name: 'mcp-exec', arguments: { name: 'test_simple_text' } }
  assert.match(textOf(await again.callTool(simple)), /simple text response/)
  await again.callTool({ name: 'mcp-remove', arguments: { name: 'fixtures' } })
  assert.ok((await again.callTool(simple)).isError)
  await again.close()
  await client.close()
})

test('what a model adds is there for other clients, who are told', async () => {
  const bare = await sandboxWith({})
  await bare.commands.run("mcp-gateway --config '{}' --meta-tools on", { user: 'root' })
  const [one, other] = await Promise.all([connect(bare), connect(bare)])
  assert.equal((await other.listTools()).tools.length, 4)
  const told = new Promise((heard) => (other.fallbackNotificationHandler = async ({ method }) => {
    if (method === 'notifications/tools/list_changed') heard()
  }))
  await one.callTool({ name: 'mcp-add', arguments: { name: 'fixtures' } })
  await told
  assert.ok(named((await other.listTools()).tools, 'test_simple_text'))
  await Promise.all([one.close(), other.close()])
})

test('interceptors of the operator change calls and stop them', async () => {
  const watched = await sandboxWith({ watched: {}, fixtures: {} })
  const client = await connect(watched)
  const { tools } = await client.listTools()
  const mine = { name: 'watched-json_schema_2020_12_tool', arguments: { name: 'me', email: 'a@b.c' } }
  assert.ok(tools.some((tool) => tool.name === mine.name))
  assert.match(textOf(await client.callTool(mine)), /somebody else.* \(seen\)$/s)
  const denied = await client.callTool({ name: 'watched-test_simple_text', arguments: {} })
  assert.deepEqual([denied.isError, textOf(denied)], [true, 'not on this Cay'])
  assert.match(textOf(await client.callTool({ name: 'test_simple_text', arguments: {} })), /for testing\.$/)
  await client.close()
})

const setInternet = async (sandbox, allowed) => {
  const answer = await fetch(`${process.env.E2B_API_URL}/sandboxes/${sandbox.sandboxId}/network`, {
    method: 'PUT',
    headers: { 'X-API-KEY': process.env.E2B_API_KEY, 'Content-Type': 'application/json' },
    body: JSON.stringify({ allow_internet_access: allowed }),
  })
  assert.equal(answer.status, 204)
}

test('a remote server that is connected delivers nothing once internet access is taken away', async () => {
  const online = await sandboxWith({ fixturesElsewhere: {} })
  const client = await connect(online, { capabilities: { elicitation: {} } })
  const accepted = { action: 'accept', content: { username: 'me', email: 'a@b.c' } }
  // A call is open as long as its question is.
  const ask = async (meanwhile) => {
    client.fallbackRequestHandler = async () => {
      await meanwhile()
      return accepted
    }
    const call = client.callTool({ name: 'test_elicitation', arguments: { message: 'who?' } })
    return call.then(textOf, (error) => error.message)
  }
  assert.match(await ask(async () => {}), /^User response: action: accept/)
  assert.doesNotMatch(await ask(() => setInternet(online, false)), /User response/)
  assert.match(await ask(async () => {}), /may not reach the internet/)
  await setInternet(online, true)
  await until('the server to be called again', async () => /^User response/.test(await ask(async () => {})))
  await client.close()
})
