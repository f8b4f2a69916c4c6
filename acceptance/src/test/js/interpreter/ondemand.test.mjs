// Cells in templates that start no interpreter with their sandboxes: Cay's others, and those of users.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { test } from '../cases.mjs'
import { until } from '../client.mjs'
import { interpreter, printed, run, Sandbox } from './client.mjs'
import { keep } from './sandboxes.mjs'

const { Template } = interpreter
const RUNNERS = 'pgrep -fc "/opt/cay/[r]unners" || true'

const names = []
after(() => Promise.all(names.map(remove)))

const remove = (name) =>
  fetch(`https://api.${process.env.E2B_DOMAIN}/templates/${name}`, {
    method: 'DELETE',
    headers: { 'X-API-Key': process.env.E2B_API_KEY },
  }).catch(() => {})

const boxOf = async (template) => keep(await Sandbox.create(template, { timeoutMs: 300_000 }))

async function built(template) {
  const name = `cells-${randomBytes(4).toString('hex')}`
  names.push(name)
  await Template.build(template, name, { cpuCount: 1, memoryMB: 512 })
  return boxOf(name)
}

test('runners of base start with the first cell of their language', async () => {
  const box = await boxOf('base')
  const runners = async () => Number((await box.commands.run(RUNNERS)).stdout)
  assert.equal(await runners(), 0)
  assert.deepEqual(await box.listCodeContexts(), [])
  assert.equal((await run(box, 'x = 20\nx + 1')).text, '21')
  assert.equal((await run(box, 'x * 2.1')).text, '42.0')
  assert.equal(await runners(), 1)
  assert.equal((await run(box, '[1, 2].map(one => one * 2)', { language: 'js' })).text, '[ 2, 4 ]')
  assert.equal((await run(box, 'const a: number = 1; a + 1', { language: 'ts' })).text, '2')
  assert.equal(printed(await run(box, 'echo "$((6 * 7))"', { language: 'bash' })), '42\n')
  assert.deepEqual((await box.listCodeContexts()).map(({ language }) => language), ['python', 'javascript', 'typescript', 'bash'])
})

test('a failing cell of base says where it failed', async () => {
  const box = await boxOf('base')
  const { error } = await box.runCode('def half(of):\n    return 1 / of\nhalf(0)')
  assert.equal(error.name, 'ZeroDivisionError')
  assert.match(error.traceback, /return 1 \/ of/)
})

test('a language that is not there is named, with those that are', async () => {
  const box = await boxOf('base')
  const answer = await fetch(`https://${box.getHost(49999)}/contexts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ language: 'r' }),
  })
  assert.equal(answer.status, 500)
  assert.match(await answer.text(), /this sandbox has no language 'r'; it has bash, javascript, python, typescript/)
})

test('cells keep their variables through a pause', async () => {
  const box = await boxOf('base')
  await run(box, 'kept = 7')
  await box.pause()
  const again = await Sandbox.connect(box.sandboxId)
  assert.equal((await run(again, 'kept')).text, '7')
})

test("a user's template runs cells with its own Python, also where that has no IPython", async () => {
  const box = await built(
    Template()
      .fromTemplate('base')
      .runCmd('rm -rf /usr/lib/python3/dist-packages/IPython /usr/lib/python3/dist-packages/traitlets', { user: 'root' })
      .runCmd('cp /usr/bin/python3.11 /usr/local/bin/python3 && rm /usr/local/bin/node', { user: 'root' }),
  )
  assert.equal((await run(box, 'import sys, IPython\n(sys.executable, IPython.__file__)')).text, "('/usr/local/bin/python3', '/opt/cay/python/IPython/__init__.py')")
  assert.equal(printed(await run(box, 'echo from bash', { language: 'bash' })), 'from bash\n')
  await assert.rejects(box.runCode('1', { language: 'js' }))
})

test('a template of such a template finds what the steps in between installed', async () => {
  const first = `cells-${randomBytes(4).toString('hex')}`
  names.push(first)
  const step = (template, command) => template.runCmd(command, { user: 'root' })
  await Template.build(step(Template().fromTemplate('base'), 'mv /usr/bin/python3 /usr/bin/hidden'), first, { cpuCount: 1, memoryMB: 512 })
  const none = await boxOf(first)
  await assert.rejects(none.runCode('1'))
  const box = await built(step(Template().fromTemplate(first), 'mv /usr/bin/hidden /usr/bin/python3'))
  assert.equal((await run(box, '40 + 2')).text, '42')
})

test('a template without programs for cells has no interpreter', async () => {
  const box = await built(
    Template().fromTemplate('base').runCmd('rm -f /usr/bin/python3 /usr/local/bin/node', { user: 'root' }),
  )
  await assert.rejects(box.runCode('1'))
  assert.equal((await fetch(`https://${box.getHost(49999)}/health`)).status, 502)
})

test("a server of the user's that has the interpreter's port keeps it", async () => {
  const box = await boxOf('base')
  assert.equal((await run(box, '1')).text, '1')
  await box.commands.run('mkdir /tmp/own && echo "of the user" > /tmp/own/health && cd /tmp/own && python3 -m http.server 49999', { background: true })
  await until('the server to answer', async () => (await (await fetch(`https://${box.getHost(49999)}/health`)).text()) === 'of the user\n')
})
