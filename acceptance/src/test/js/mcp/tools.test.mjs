// The ten tools, through the client library most MCP clients are built on: by pipes, or over HTTP.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { authorized, startServer, state } from './server.mjs'

const require = createRequire(process.env.CAY_CLIENT + '/')
const load = async (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + path)).href)
const { Client } = await load('client/index.js')
const { StdioClientTransport } = await load('client/stdio.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')

const [command, ...args] = JSON.parse(process.env.CAY_MCP)
const LIMIT = '4'
const HTTP = process.env.CAY_MCP_FACE === 'http'

let server
let client
before(async () => {
  if (HTTP) server = await startServer({ MAX_ACTIVE_SANDBOXES: LIMIT })
  client = await connect()
})
after(async () => {
  await client?.close()
  await server?.stop()
})

async function connect(at = server) {
  const fresh = new Client({ name: 'test', version: '1' })
  const env = { ...process.env, MAX_ACTIVE_SANDBOXES: LIMIT, LOG_LEVEL: 'WARNING' }
  await fresh.connect(HTTP
    ? new StreamableHTTPClientTransport(at.url, authorized())
    : new StdioClientTransport({ command, args, env }))
  return fresh
}

async function call(name, given = {}, options = {}) {
  const result = await client.callTool({ name, arguments: given }, undefined, { timeout: 120000, ...options })
  if (!result.isError) {
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent)
  }
  return result
}

async function done(name, given, options) {
  const result = await call(name, given, options)
  assert.ok(!result.isError, JSON.stringify(result.content))
  return result.structuredContent
}

async function refused(name, given, words) {
  const result = await call(name, given)
  assert.ok(result.isError, JSON.stringify(result))
  for (const word of words) assert.ok(result.content[0].text.includes(word), result.content[0].text)
}

test('lists ten tools with their schemas', async () => {
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map((tool) => tool.name), [
    'create_sandbox', 'run_code', 'run_command', 'read_file', 'write_file', 'list_files', 'get_sandbox_url',
    'get_file_download_url', 'list_sandbox_ids', 'kill_sandbox',
  ])
  for (const tool of tools) {
    assert.equal(tool.inputSchema.type, 'object')
    assert.equal(tool.outputSchema.type, 'object')
    assert.ok(tool.description)
  }
  const timeout = tools[0].inputSchema.properties.timeoutMs
  assert.deepEqual([timeout.minimum, timeout.maximum, timeout.default], [1000, 3600000, 300000])
})

test('a sandbox from its beginning to its end', async () => {
  const { sandboxId, message } = await done('create_sandbox', { timeoutMs: 120000 })
  assert.match(message, /120000 ms/)
  const listed = await done('list_sandbox_ids')
  assert.deepEqual(listed, { sandbox_ids: [sandboxId], active_sandboxes: 1, max_sandboxes: Number(LIMIT) })

  const written = await done('write_file', { sandboxId, filePath: 'a/b.txt', fileContents: 'grüß' })
  assert.equal(written.size, 6)
  assert.equal((await done('read_file', { sandboxId, filePath: 'a/b.txt' })).content, 'grüß')
  await done('write_file', { sandboxId, filePath: 'a/empty', fileContents: '' })
  const files = await done('list_files', { sandboxId, folderPath: '/home/user/a' })
  assert.deepEqual(files.files, [{ name: 'b.txt', type: 'file' }, { name: 'empty', type: 'file' }])
  assert.equal(files.count, 2)

  const failed = await done('run_command', { sandboxId, command: 'echo out; echo err >&2; exit 3' })
  assert.deepEqual([failed.stdout, failed.stderr, failed.exit_code], ['out\n', 'err\n', 3])
  const begun = await done('run_command', { sandboxId, command: 'sleep 1000', background: true })
  const alive = await done('run_command', { sandboxId, command: `kill -0 ${begun.pid} && echo there` })
  assert.equal(alive.stdout, 'there\n')

  assert.match((await done('get_sandbox_url', { sandboxId, port: 3000 })).url, new RegExp(`^https://3000-${sandboxId}\\.`))
  const { url } = await done('get_file_download_url', { sandboxId, filePath: 'a/b.txt' })
  assert.equal(await (await fetch(url)).text(), 'grüß')

  const killed = await done('kill_sandbox', { sandboxId })
  assert.deepEqual([killed.stats.active_sandboxes, killed.stats.sandbox_ids], [0, []])
  assert.match(killed.message, /killed/)
  await refused('read_file', { sandboxId, filePath: 'a' }, [`Sandbox ${sandboxId} not found`])
  await refused('kill_sandbox', { sandboxId }, [`Sandbox ${sandboxId} not found`])
})

test('code keeps its variables, and shows values, errors and pictures', async () => {
  const { sandboxId } = await done('create_sandbox')
  await done('run_code', { sandboxId, code: 'x = 6' })
  const ran = await done('run_code', { sandboxId, code: "print('hi')\nx * 7" })
  assert.deepEqual([ran.stdout, ran.text, ran.sandboxId], ['hi\n', '42', sandboxId])
  const raised = await done('run_code', { sandboxId, code: '1 / 0' })
  assert.equal(raised.error.name, 'ZeroDivisionError')
  const drawn = await call('run_code', { sandboxId, code: 'import matplotlib.pyplot as p\np.plot([1, 2])\np.show()' })
  const picture = drawn.content.find((part) => part.type === 'image')
  assert.equal(picture.mimeType, 'image/png')
  assert.equal(Buffer.from(picture.data, 'base64').subarray(1, 4).toString(), 'PNG')
  await done('kill_sandbox', { sandboxId })
})

test('code without a sandbox runs in a temporary one', async () => {
  const ran = await done('run_code', { code: '1 + 1' })
  assert.equal(ran.text, '2')
  assert.match(ran.message, /temporary sandbox/)
  assert.equal(ran.sandboxId, undefined)
  assert.equal((await done('list_sandbox_ids')).active_sandboxes, 0)
})

test('long output is cut with a note', async () => {
  const { sandboxId } = await done('create_sandbox')
  const ran = await done('run_command', { sandboxId, command: 'head -c 300000 /dev/zero | tr "\\0" x' })
  assert.ok(ran.stdout.length < 101000)
  assert.match(ran.stdout, /\[200000 more characters were left out\]$/)
  await done('kill_sandbox', { sandboxId })
})

test('what is left is told with a kill', async () => {
  const first = await done('create_sandbox')
  const second = await done('create_sandbox')
  const killed = await done('kill_sandbox', { sandboxId: first.sandboxId })
  assert.deepEqual([killed.stats.active_sandboxes, killed.stats.sandbox_ids], [1, [second.sandboxId]])
  await done('kill_sandbox', { sandboxId: second.sandboxId })
})

test('a long file is read in parts', async () => {
  const { sandboxId } = await done('create_sandbox')
  const whole = Array.from({ length: 30000 }, (_, line) => `${line} grüß 😀\n`).join('')
  await done('write_file', { sandboxId, filePath: 'long.txt', fileContents: whole })
  const parts = []
  for (let offset = 0; offset !== undefined;) {
    const part = await done('read_file', { sandboxId, filePath: 'long.txt', offset })
    assert.ok([...part.content].length <= 100000)
    parts.push(part.content)
    offset = part.nextOffset
  }
  assert.equal(parts.length, Math.ceil([...whole].length / 100000))
  assert.ok(parts.join('') === whole, 'the parts are not the file')
  const middle = await done('read_file', { sandboxId, filePath: 'long.txt', offset: 2, length: 4 })
  assert.deepEqual([middle.content, middle.nextOffset], ['grüß', 6])
  await refused('read_file', { sandboxId, filePath: 'long.txt', offset: -1 }, ['offset must be from 0 to'])
  await refused('read_file', { sandboxId, filePath: 'long.txt', length: 100001 }, ['length must be from 1 to 100000'])
  // One that is larger than what is ever read of it.
  await done('run_command', { sandboxId, command: 'truncate -s 50M large' })
  const large = await done('read_file', { sandboxId, filePath: 'large', length: 10 })
  assert.deepEqual([large.content.length, large.nextOffset], [10, 10])
  await done('kill_sandbox', { sandboxId })
})

test('what is wrong is named', async () => {
  await refused('create_sandbox', { timeoutMs: 999 }, ['timeoutMs', '1000', '3600000'])
  await refused('create_sandbox', { timeoutMs: 3600001 }, ['timeoutMs'])
  await refused('create_sandbox', { timeoutMs: 'long' }, ['timeoutMs must be a whole number'])
  await refused('run_code', {}, ['code is missing'])
  await refused('run_code', { code: '' }, ['code must not be empty'])
  await refused('run_command', { command: 'true' }, ['sandboxId is missing'])
  await refused('run_command', { command: 'true', sandboxId: 'nope', background: 'yes' }, ['background must be true or false'])
  await refused('write_file', { sandboxId: 'x', filePath: 'a' }, ['fileContents is missing'])
  await refused('get_sandbox_url', { sandboxId: 'x', port: 65536 }, ['port must be from 1 to 65535'])
  await refused('get_sandbox_url', { sandboxId: 'x', port: 80 }, ['Sandbox x not found'])
  await assert.rejects(client.callTool({ name: 'make_coffee', arguments: {} }), /unknown tool: make_coffee/)
  const { sandboxId } = await done('create_sandbox')
  await refused('read_file', { sandboxId, filePath: '/nothing' }, ['/nothing'])
  await refused('list_files', { sandboxId, folderPath: '/nothing' }, ['/nothing'])
  await done('kill_sandbox', { sandboxId })
})

test('twenty creates at once stay within the limit', async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => call('create_sandbox')))
  const made = results.filter((result) => !result.isError)
  assert.equal(made.length, Number(LIMIT))
  for (const result of results.filter((one) => one.isError)) {
    assert.equal(result.content[0].text, `Maximum number of sandboxes (${LIMIT}) reached`)
  }
  await Promise.all(made.map((result) => done('kill_sandbox', { sandboxId: result.structuredContent.sandboxId })))
  await done('create_sandbox', { timeoutMs: 1000 })
})

test('a place is free again when a sandbox has ended by itself', async () => {
  const short = await Promise.all(Array.from({ length: Number(LIMIT) - 1 }, () => call('create_sandbox', { timeoutMs: 1000 })))
  assert.ok(short.every((result) => !result.isError))
  for (let tries = 0; ; tries++) {
    const result = await call('create_sandbox')
    if (!result.isError) {
      await done('kill_sandbox', { sandboxId: result.structuredContent.sandboxId })
      return
    }
    assert.ok(tries < 60, 'no place was free')
    await new Promise((resume) => setTimeout(resume, 500))
  }
})

test('a long call tells how it goes on, and ends when it is called off', async () => {
  const { sandboxId } = await done('create_sandbox')
  const heard = []
  await done('run_command', { sandboxId, command: 'for i in 1 2 3; do echo step $i; sleep 0.7; done' }, {
    onprogress: (progress) => heard.push(progress.message),
  })
  assert.ok(heard.some((message) => message.includes('step')), heard.join())
  const stop = new AbortController()
  const long = client.callTool({ name: 'run_command', arguments: { sandboxId, command: 'echo on; exec sleep 1234' } }, undefined, {
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

// Clients of pipes and of HTTP go in different ways.
const only = (here) => (here ? test : () => {})

async function gone(id) {
  for (let tries = 0; (await state(id)) !== 404; tries++) {
    assert.ok(tries < 100, 'the sandbox lives on')
    await new Promise((resume) => setTimeout(resume, 200))
  }
}

only(!HTTP)('nothing is left when the client goes', async () => {
  const other = await connect()
  const made = await other.callTool({ name: 'create_sandbox', arguments: {} })
  const id = made.structuredContent.sandboxId
  assert.equal((await state(id)), 200)
  await other.close()
  await gone(id)
})

for (const signal of ['SIGTERM', 'SIGINT']) {
  only(HTTP)(`nothing is left when the server ends by ${signal}`, async () => {
    const own = await startServer()
    const other = await connect(own)
    const made = await other.callTool({ name: 'create_sandbox', arguments: {} })
    const id = made.structuredContent.sandboxId
    assert.equal((await state(id)), 200)
    await own.stop(signal)
    assert.equal((await state(id)), 404)
    await other.close()
  })
}

only(HTTP)('sessions of one key have their sandboxes together, until the last one ends', async () => {
  const own = await startServer({ MAX_ACTIVE_SANDBOXES: '1' })
  const [one, two] = [await connect(own), await connect(own)]
  const made = await one.callTool({ name: 'create_sandbox', arguments: {} })
  const id = made.structuredContent.sandboxId
  const more = await two.callTool({ name: 'create_sandbox', arguments: {} })
  assert.equal(more.content[0].text, 'Maximum number of sandboxes (1) reached')
  const ran = await two.callTool({ name: 'run_command', arguments: { sandboxId: id, command: 'echo here' } })
  assert.equal(ran.structuredContent.stdout, 'here\n')
  await one.transport.terminateSession()
  assert.equal((await state(id)), 200)
  await two.transport.terminateSession()
  await gone(id)
  await own.stop()
})

only(HTTP)('a key that the platform does not know is refused', async () => {
  for (const key of ['e2b_0000', 'x', 'grüß']) {
    const answer = await fetch(server.url, { method: 'POST', headers: { Authorization: `Bearer ${encodeURI(key)}` } })
    assert.equal(answer.status, 401)
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
  }
})
