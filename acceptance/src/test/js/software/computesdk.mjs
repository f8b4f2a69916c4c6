// ComputeSDK with its provider for E2B.
import assert from 'node:assert/strict'
import { done, require } from './software.mjs'

const { compute } = require('computesdk')
const { e2b } = require('@computesdk/e2b')

compute.setConfig({ provider: e2b({ apiKey: process.env.E2B_API_KEY }) })
const sandbox = await compute.sandbox.create()
try {
  const python = await sandbox.runCommand(`python - <<'PY'\nimport json\nprint(json.dumps({"sum": 1 + 2}))\nPY`)
  assert.deepEqual([python.exitCode, JSON.parse(python.stdout)], [0, { sum: 3 }])
  const failed = await sandbox.runCommand('echo oh >&2; exit 4')
  assert.deepEqual([failed.exitCode, failed.stderr.trim()], [4, 'oh'])

  await sandbox.filesystem.mkdir('/tmp/data')
  await sandbox.filesystem.writeFile('/tmp/data/hello.py', 'print("hello")')
  assert.equal(await sandbox.filesystem.readFile('/tmp/data/hello.py'), 'print("hello")')
  assert.deepEqual((await sandbox.filesystem.readdir('/tmp/data')).map((entry) => entry.name), ['hello.py'])
  assert.equal(await sandbox.filesystem.exists('/tmp/data/hello.py'), true)
  await sandbox.filesystem.remove('/tmp/data/hello.py')
  assert.equal(await sandbox.filesystem.exists('/tmp/data/hello.py'), false)

  await sandbox.runCommand('cd /tmp/data && (python3 -m http.server 8000 > /dev/null 2>&1 &) ; until curl -sf localhost:8000 > /dev/null; do sleep 0.1; done')
  const url = await sandbox.getUrl({ port: 8000 })
  assert.match(await (await fetch(url)).text(), /Directory listing/)

  assert.equal((await sandbox.getInfo()).status, 'running')
  const again = await compute.sandbox.getById(sandbox.sandboxId)
  assert.equal((await again.runCommand('echo same')).stdout.trim(), 'same')
} finally {
  await sandbox.destroy()
}
done()
