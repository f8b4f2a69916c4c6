// Servers that users bring in repositories, which a git server of the platform's configuration has: cay/greeter and
// cay/broken with greeter-server.mjs as server.mjs, and the same under private for those who know a password. The platform
// knows it for private/trusted alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../client.mjs'
import { connect, create, textOf } from './gateway.mjs'

// Longer than any other server may take until it says hello, and with output that is no message.
const SLOW = 'echo installing; sleep 35; echo "once more" >> installed.txt'
const GREETER = { installCmd: SLOW, runCmd: 'node server.mjs !', envs: { GREETING: 'Good evening' } }
const TOOL = 'github_cay_greeter-greet'

let sandbox
before(async () => {
  sandbox = await create({
    mcp: {
      'github/cay/greeter': GREETER,
      'github/cay/broken': { installCmd: 'seq 1000; echo no such module >&2; exit 7', runCmd: 'node server.mjs' },
      'github/cay/nonesuch': { runCmd: 'node server.mjs' },
      'github/private/greeter': { runCmd: 'node server.mjs' },
      'github/private/trusted': { installCmd: 'env > installed.txt', runCmd: 'node server.mjs !', envs: { GREETING: 'Psst' } },
    },
    timeoutMs: 300_000,
  })
})
after(async () => sandbox?.kill())

async function stateOf(key) {
  const { stdout } = await sandbox.commands.run('mcp-gateway status', { user: 'root' })
  return JSON.parse(stdout).servers[key]
}

const settled = (key) => until(key, async () => {
  const now = await stateOf(key)
  return now.state !== 'starting' && now
}, 120_000)

test('one that cannot be cloned or installed says why', async () => {
  for (const key of ['github/cay/nonesuch', 'github/private/greeter']) {
    const { state, reason } = await settled(key)
    assert.equal(state, 'failed')
    assert.match(reason, new RegExp(`https://.*${key.replace('github/', '/')}.git cannot be cloned; is it there, and public\\? fatal: `))
  }
  const { state, reason } = await settled('github/cay/broken')
  assert.equal(state, 'failed')
  assert.match(reason, /^installCmd ended with status 7: .* 1000 no such module$/)
})

test('whoever looks or fetches is told how far it is', async () => {
  const { state, progress } = await until('progress', async () => {
    const now = await stateOf('github/cay/greeter')
    return (now.progress === 'running installCmd' || now.state !== 'starting') && now
  })
  assert.deepEqual([state, progress], ['starting', 'running installCmd'])
  const { stdout, stderr } = await sandbox.commands.run('mcp-gateway pull github/cay/greeter', { user: 'root', timeoutMs: 120_000 })
  assert.match(stdout + stderr, /github\/cay\/greeter: running installCmd/)
})

test('the others are cloned, installed and run, however long it takes', async () => {
  const { state, tools: count, way } = await settled('github/cay/greeter')
  assert.deepEqual([state, count, way], ['ready', 1, 'repository github/cay/greeter'])
  const client = await connect(sandbox)
  const { tools } = await client.listTools(undefined, { timeout: 120_000 })
  assert.deepEqual(tools.map((tool) => tool.name).sort(), [TOOL, 'github_private_trusted-greet'])
  const said = await client.callTool({ name: TOOL, arguments: { name: 'Ada' } })
  assert.equal(textOf(said), 'Good evening, Ada! (once more)', 'installed once')
  await client.close()
})

test('all clients find the same clone', async () => {
  const clients = await Promise.all([connect(sandbox), connect(sandbox)])
  const texts = await Promise.all(clients.map(async (client) => textOf(await client.callTool({ name: TOOL, arguments: { name: 'B' } }))))
  assert.deepEqual(texts, ['Good evening, B! (once more)', 'Good evening, B! (once more)'])
  await Promise.all(clients.map((client) => client.close()))
})

test('another sandbox of the team finds it installed', async () => {
  const other = await create({ mcp: { 'github/cay/greeter': GREETER }, timeoutMs: 120_000 })
  try {
    const began = Date.now()
    const client = await connect(other)
    const said = await client.callTool({ name: TOOL, arguments: { name: 'C' } })
    assert.equal(textOf(said), 'Good evening, C! (once more)')
    assert.ok(Date.now() - began < 30_000, 'without another installCmd')
    await client.close()
  } finally {
    await other.kill()
  }
})

test('a private one is cloned with a token that nobody else sees', async () => {
  const client = await connect(sandbox)
  const said = textOf(await client.callTool({ name: 'github_private_trusted-greet', arguments: { name: 'D' } }))
  assert.match(said, /^Psst, D! \(/)
  assert.doesNotMatch(said, /CAY_GIT|robot|GREETING/)
  await client.close()
})
