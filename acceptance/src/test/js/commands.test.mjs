import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from './cases.mjs'
import { atLeast, e2b, until } from './client.mjs'
import { knownSandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await knownSandbox()
})

/** With input open; old clients cannot say so and always have it open. */
const withStdin = { background: true, ...(atLeast(2, 2) ? { stdin: true } : {}) }

test('commands.run returns output and exit code', { covers: ['Commands.run'] }, async () => {
  const result = await box.commands.run('echo hi')
  assert.equal(result.stdout, 'hi\n')
  assert.equal(result.stderr, '')
  assert.equal(result.exitCode, 0)
})

test('commands.run keeps stdout and stderr apart', async () => {
  const result = await box.commands.run('echo out; echo err >&2')
  assert.equal(result.stdout, 'out\n')
  assert.equal(result.stderr, 'err\n')
})

test('commands.run throws with the exit code when the command fails', async () => {
  await assert.rejects(box.commands.run('echo no >&2; exit 7'), (error) => {
    assert.ok(error instanceof e2b.CommandExitError)
    assert.equal(error.exitCode, 7)
    assert.equal(error.error, 'exit status 7')
    assert.equal(error.stderr, 'no\n')
    return true
  })
})

test('commands run as user in its home, or as asked', async () => {
  assert.equal((await box.commands.run('whoami; pwd')).stdout, 'user\n/home/user\n')
  assert.equal((await box.commands.run('whoami; pwd', { user: 'root', cwd: '/tmp' })).stdout, 'root\n/tmp\n')
  assert.equal((await box.commands.run('sudo id -u')).stdout, '0\n')
})

test('a command has the variables it was given, the sandbox the others', async () => {
  const { stdout } = await box.commands.run('echo "$ONE|$HOME|$USER|$E2B_SANDBOX"', { envs: { ONE: '1 ä', USER: 'me' } })
  assert.equal(stdout, '1 ä|/home/user|me|true\n')
  assert.equal((await box.commands.run('echo "$ONE"')).stdout, '\n')
})

test('output streams while the command runs', async () => {
  let seen = ''
  const running = box.commands.run('echo 1; until [ -e /tmp/seen ]; do sleep 0.02; done; echo 2', {
    onStdout: (text) => (seen += text),
  })
  await until('the first line, without which the command does not end', () => seen === '1\n')
  await box.files.write('/tmp/seen', '')
  await running
  assert.equal(seen, '1\n2\n')
})

test('background commands are listed, can be waited for and killed', {
  covers: ['Commands.list', 'Commands.kill', 'CommandHandle.wait', 'CommandHandle.kill'],
}, async () => {
  const handle = await box.commands.run('sleep 300', { background: true, cwd: '/tmp', envs: { A: '1' } })
  assert.ok(handle.pid > 1)
  const listed = (await box.commands.list()).find((p) => p.pid === handle.pid)
  assert.deepEqual(listed, { pid: handle.pid, cmd: '/bin/bash', args: ['-l', '-c', 'sleep 300'], envs: { A: '1' }, cwd: '/tmp' })
  assert.equal((await box.commands.run(`kill -0 ${handle.pid} && echo alive`)).stdout, 'alive\n')
  assert.equal(await handle.kill(), true)
  await assert.rejects(handle.wait(), (error) =>
    error instanceof e2b.CommandExitError && error.exitCode === -1 && error.error === 'signal: killed')
  assert.ok(!(await box.commands.list()).some((p) => p.pid === handle.pid))
  assert.equal(await box.commands.kill(handle.pid), false)
  const other = await box.commands.run('sleep 300', { background: true })
  assert.equal(await box.commands.kill(other.pid), true)
  await assert.rejects(other.wait(), e2b.CommandExitError)
})

test('a handle tells output and exit code while and after the command runs', {
  covers: ['CommandHandle.stdout', 'CommandHandle.stderr', 'CommandHandle.exitCode', 'CommandHandle.error'],
}, async () => {
  const handle = await box.commands.run('echo out; echo err >&2; read line; kill -TERM $$', withStdin)
  await until('the output', () => handle.stdout === 'out\n' && handle.stderr === 'err\n')
  assert.equal(handle.exitCode, undefined)
  assert.equal(handle.error, undefined)
  await box.commands.sendStdin(handle.pid, '\n')
  await assert.rejects(handle.wait(), e2b.CommandExitError)
  assert.equal(handle.exitCode, -1)
  assert.equal(handle.error, 'signal: terminated')
})

test('commands.connect follows a running command from now on', { covers: ['Commands.connect', 'CommandHandle.disconnect'] }, async () => {
  const first = await box.commands.run('for i in $(seq 100); do echo $i; sleep 0.05; done', { background: true })
  await until('the first lines', () => first.stdout.includes('5\n'))
  await first.disconnect()
  let text = ''
  const second = await box.commands.connect(first.pid, { onStdout: (data) => (text += data) })
  assert.equal(second.pid, first.pid)
  const result = await second.wait()
  assert.equal(result.exitCode, 0)
  const lines = text.trim().split('\n').map(Number)
  assert.equal(lines.at(-1), 100)
  assert.deepEqual(lines, Array.from({ length: lines.length }, (_, i) => 101 - lines.length + i))
})

test('two who are connected hear the same, and one who comes late the end', async () => {
  const first = await box.commands.run('read line; echo "$line"; echo over >&2; exit 3', withStdin)
  const second = await box.commands.connect(first.pid)
  await box.commands.sendStdin(first.pid, 'said once\n')
  for (const one of [first, second]) {
    await assert.rejects(one.wait(), (error) => error.exitCode === 3 && error.stdout === 'said once\n' && error.stderr === 'over\n')
  }
  const late = await box.commands.connect(first.pid)
  await assert.rejects(late.wait(), (error) => error instanceof e2b.CommandExitError && error.exitCode === 3)
})

test('a command outlives the client that started it', async () => {
  const handle = await box.commands.run('sleep 0.5; echo done > /tmp/outlived', { background: true })
  await handle.disconnect()
  await until('the file', async () => (await box.files.exists('/tmp/outlived')))
})

test('a command that takes too long is ended', async () => {
  await assert.rejects(box.commands.run('echo $$ > /tmp/slow; exec sleep 300', { timeoutMs: 1_000 }), (error) =>
    error instanceof e2b.TimeoutError && /deadline_exceeded/.test(error.message))
  const pid = (await box.files.read('/tmp/slow')).trim()
  await until('the process to go', async () =>
    (await box.commands.run(`kill -0 ${pid} 2>/dev/null && echo alive || echo gone`)).stdout === 'gone\n')
})

test('sendStdin reaches the command', { covers: ['Commands.sendStdin'] }, async () => {
  let text = ''
  const handle = await box.commands.run('read a; echo $a; read b; echo $b', { ...withStdin, onStdout: (data) => (text += data) })
  await box.commands.sendStdin(handle.pid, 'one\n')
  await until('the echo', () => text === 'one\n')
  await box.commands.sendStdin(handle.pid, 'two\n')
  assert.equal((await handle.wait()).stdout, 'one\ntwo\n')
})

test('closeStdin ends the input', { covers: ['Commands.closeStdin', 'Commands.supportsStdinClose'] }, async () => {
  assert.equal(box.commands.supportsStdinClose, true)
  const handle = await box.commands.run('cat', withStdin)
  await box.commands.sendStdin(handle.pid, 'all of it')
  await box.commands.closeStdin(handle.pid)
  assert.equal((await handle.wait()).stdout, 'all of it')
})

test('a handle sends input and ends it', { covers: ['CommandHandle.sendStdin', 'CommandHandle.closeStdin'] }, async () => {
  const handle = await box.commands.run('wc -c', withStdin)
  await handle.sendStdin('four')
  await handle.sendStdin(new Uint8Array(100_000))
  await handle.closeStdin()
  assert.equal((await handle.wait()).stdout, '100004\n')
})

test('much output arrives whole', async () => {
  const result = await box.commands.run('seq 1 700000 | tee /tmp/seq | sha256sum >&2; cat /tmp/seq')
  const { createHash } = await import('node:crypto')
  const sum = createHash('sha256').update(result.stdout).digest('hex')
  assert.equal(result.stderr.split(' ')[0], sum)
})

// Clients before 2.14 decode each piece by itself, whatever the server.
test('characters of several bytes survive', { skip: !atLeast(2, 14) }, async () => {
  const text = 'ä€😀'.repeat(20_000)
  await box.files.write('/tmp/wide', text)
  assert.equal((await box.commands.run('cat /tmp/wide')).stdout, text)
})

test('twenty commands at once', async () => {
  const results = await Promise.all(Array.from({ length: 20 }, (_, i) => box.commands.run(`sleep 0.1; echo ${i}`)))
  assert.deepEqual(results.map((r) => r.stdout), Array.from({ length: 20 }, (_, i) => `${i}\n`))
})

test('a left-over background child does not stop later commands', async () => {
  await box.commands.run('sleep 999 >/dev/null 2>&1 &')
  assert.equal((await box.commands.run('echo next')).stdout, 'next\n')
})

test('a child that keeps the output open delays the end', async () => {
  const { stdout } = await box.commands.run('(sleep 0.5; echo late) & echo early')
  assert.equal(stdout, 'early\nlate\n')
})
