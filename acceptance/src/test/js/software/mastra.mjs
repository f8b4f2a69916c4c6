// A workspace of Mastra with the sandbox's default constructor, which builds a template with packages of Debian.
import assert from 'node:assert/strict'
import { done, require } from './software.mjs'

const { Workspace } = require('@mastra/core/workspace')
const { E2BSandbox, createDefaultMountableTemplate } = require('@mastra/e2b')
const { Template } = require('e2b')

const workspace = new Workspace({ sandbox: new E2BSandbox() })
await workspace.init()
const sandbox = workspace.sandbox
try {
  assert.equal(sandbox.status, 'running')
  const said = await sandbox.executeCommand('sh', ['-c', 'which s3fs fusermount; id -un; pwd; echo oh >&2'])
  assert.deepEqual([said.exitCode, said.stdout, said.stderr], [0, '/usr/bin/s3fs\n/usr/bin/fusermount\nuser\n/home/user\n', 'oh\n'])
  assert.equal((await sandbox.executeCommand('sh', ['-c', 'exit 3'])).exitCode, 3)

  const process = await sandbox.processes.spawn('read line; echo "got $line"')
  await process.sendStdin('words\n')
  assert.equal((await process.wait()).stdout, 'got words\n')
  const endless = await sandbox.processes.spawn('sleep 1000')
  assert.equal(await endless.kill(), true)

  await sandbox.writeFiles([{ path: '/home/user/notes/one.txt', content: 'one' }])
  assert.equal((await sandbox.executeCommand('cat', ['notes/one.txt'])).stdout, 'one')

  // One that is stopped is paused, and goes on with its files.
  await sandbox._stop()
  await sandbox._start()
  assert.equal((await sandbox.executeCommand('cat', ['notes/one.txt'])).stdout, 'one')
} finally {
  await workspace.destroy()
}
// The next one finds the template by its name and builds nothing.
assert.equal(await Template.exists(createDefaultMountableTemplate().id), true)
done()
