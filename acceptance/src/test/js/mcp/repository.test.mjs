// Servers that users bring in repositories, which a git server of the platform's configuration has: cay/greeter and
// cay/broken with greeter-server.mjs as server.mjs, and private/greeter for those who know a password.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../client.mjs'
import { connect, create, textOf } from './gateway.mjs'

// Longer than any other server may take until it says hello, and with output that is no message.
const SLOW = 'echo installing; sleep 35; echo "once more" >> installed.txt'
const TOOL = 'github_cay_greeter-greet'

let sandbox
before(async () => {
  sandbox = await create({
    mcp: {
      'github/cay/greeter': { installCmd: SLOW, runCmd: 'node server.mjs !', envs: { GREETING: 'Good evening' } },
      'github/cay/broken': { installCmd: 'seq 1000; echo no such module >&2; exit 7', runCmd: 'node server.mjs' },
      'github/cay/nonesuch': { runCmd: 'node server.mjs' },
      'github/private/greeter': { runCmd: 'node server.mjs' },
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
  assert.match(reason, /said last: installCmd ended with status 7: .* 1000 no such module$/)
})

test('the others are cloned, installed and run, however long it takes', async () => {
  assert.deepEqual(await settled('github/cay/greeter'), { state: 'ready', tools: 1 })
  const client = await connect(sandbox)
  const { tools } = await client.listTools(undefined, { timeout: 120_000 })
  assert.deepEqual(tools.map((tool) => tool.name), [TOOL])
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
