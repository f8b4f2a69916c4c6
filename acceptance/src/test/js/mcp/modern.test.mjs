// The tools through a client that prefers the newest revision of the protocol, which has no sessions.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { authorized, startServer } from './server.mjs'

const require = createRequire(process.env.CAY_CLIENT + '/')
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client')

let server
let client
before(async () => {
  server = await startServer({ MAX_ACTIVE_SANDBOXES: '2' })
  client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(server.url, authorized()))
})
after(async () => {
  await client?.close()
  await server?.stop()
})

async function done(name, given = {}, options = {}) {
  const result = await client.callTool({ name, arguments: given }, { timeout: 120000, ...options })
  assert.ok(!result.isError, JSON.stringify(result.content))
  return result.structuredContent
}

test('speaks the newest revision and lists the tools', async () => {
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28')
  const { tools } = await client.listTools()
  assert.equal(tools.length, 10)
})

test('requests that know nothing of each other share their sandboxes', async () => {
  const { sandboxId } = await done('create_sandbox')
  await done('write_file', { sandboxId, filePath: 'a.txt', fileContents: 'grüß' })
  assert.equal((await done('read_file', { sandboxId, filePath: 'a.txt' })).content, 'grüß')
  assert.equal((await done('run_code', { sandboxId, code: '6 * 7' })).text, '42')
  assert.equal((await done('list_sandbox_ids')).active_sandboxes, 1)
  await done('kill_sandbox', { sandboxId })
})

test('what is wrong is named', async () => {
  const refused = await client.callTool({ name: 'run_code', arguments: {} })
  assert.ok(refused.isError)
  assert.match(refused.content[0].text, /code is missing/)
  await assert.rejects(client.callTool({ name: 'make_coffee', arguments: {} }), /unknown tool: make_coffee/)
})

test('a long call tells how it goes on, and ends when it is called off', async () => {
  const { sandboxId } = await done('create_sandbox')
  const heard = []
  await done('run_command', { sandboxId, command: 'for i in 1 2 3; do echo step $i; sleep 0.7; done' }, {
    onprogress: (progress) => heard.push(progress.message),
  })
  assert.ok(heard.some((message) => message.includes('step')), heard.join())
  const stop = new AbortController()
  const long = client.callTool({ name: 'run_command', arguments: { sandboxId, command: 'echo on; exec sleep 1234' } }, {
    signal: stop.signal,
    onprogress: () => stop.abort(),
  })
  await assert.rejects(long)
  for (let tries = 0; ; tries++) {
    const left = await done('run_command', { sandboxId, command: 'pgrep -f "[s]leep 1234" || true' })
    if (left.stdout === '') break
    assert.ok(tries < 60, 'it was not killed')
    await new Promise((resume) => setTimeout(resume, 250))
  }
  await done('kill_sandbox', { sandboxId })
})
