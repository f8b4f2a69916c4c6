// Sessions of the OpenAI Agents SDK: manifest, terminal, snapshot, pause, exposed port.
import assert from 'node:assert/strict'
import { done, require, until } from './software.mjs'

const { E2BSandboxClient } = require('@openai/agents-extensions/sandbox/e2b')
const { Manifest, dir, file } = require('@openai/agents/sandbox')

const manifest = new Manifest({
  root: '/home/user/workspace',
  entries: {
    'notes.txt': file({ content: 'from the manifest\n' }),
    src: dir({ children: { 'main.py': file({ content: 'print(6 * 7)\n' }) } }),
  },
  environment: { GREETING: 'hello' },
})
const client = new E2BSandboxClient({
  template: 'base',
  exposedPorts: [8000],
  pauseOnExit: true,
  workspacePersistence: 'snapshot',
})

let session = await client.create({ manifest })

/** What a command prints, and how it ended. */
async function run(cmd) {
  const text = await session.execCommand({ cmd })
  const [, status] = /Process exited with code (\d+)/.exec(text) ?? assert.fail(text)
  return [Number(status), text.slice(text.indexOf('Output:\n') + 'Output:\n'.length).trim()]
}

try {
  assert.deepEqual(await run('cat notes.txt; python3 src/main.py; echo "$GREETING"; pwd'), [0, 'from the manifest\n42\nhello\n/home/user/workspace'])
  assert.deepEqual(await run('exit 5'), [5, ''])
  assert.equal(Buffer.from(await session.readFile({ path: 'notes.txt' })).toString(), 'from the manifest\n')
  assert.equal(await session.pathExists('nothing'), false)

  // A terminal that is talked to.
  assert.equal(session.supportsPty(), true)
  const terminal = await session.execCommand({ cmd: 'read line; echo "got [$line]"; sleep 100', tty: true, yieldTimeMs: 500 })
  const sessionId = Number(/session ID (\d+)/i.exec(terminal)?.[1])
  assert.ok(sessionId > 0, terminal)
  const answer = await session.writeStdin({ sessionId, chars: 'words\n', yieldTimeMs: 2000 })
  assert.match(answer, /got \[words\]/)

  // A server, by its port.
  await run('(python3 -m http.server 8000 > /dev/null 2>&1 &); sleep 0.1')
  const endpoint = await session.resolveExposedPort(8000)
  const page = await until('the server', async () => (await fetch(`https://${endpoint.host}:${endpoint.port}/notes.txt`)).text())
  assert.equal(page, 'from the manifest\n')

  // A snapshot: what happens after it is gone when it is brought back.
  const saved = await session.persistWorkspace()
  await run('echo later > notes.txt')
  await session.hydrateWorkspace(saved)
  assert.deepEqual(await run('cat notes.txt'), [0, 'from the manifest'])

  // A pause, and another process that goes on with what the first one wrote down.
  await run('echo kept > kept.txt')
  const state = await client.serializeSessionState(session.state)
  await session.close()
  session = await client.resume(await client.deserializeSessionState(JSON.parse(JSON.stringify(state))))
  assert.deepEqual(await run('cat kept.txt'), [0, 'kept'])
} finally {
  await session.delete({ reason: 'cleanup' })
}
done()
