import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { atLeast, e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

test('commands.run returns output and exit code', async () => {
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
    assert.equal(error.stderr, 'no\n')
    return true
  })
})

test('commands run as user in its home, or as asked', async () => {
  assert.equal((await box.commands.run('whoami; pwd')).stdout, 'user\n/home/user\n')
  assert.equal((await box.commands.run('whoami; pwd', { user: 'root', cwd: '/tmp' })).stdout, 'root\n/tmp\n')
  assert.equal((await box.commands.run('sudo id -u')).stdout, '0\n')
})

test('commands.run with a missing directory names it', async () => {
  await assert.rejects(box.commands.run('true', { cwd: '/no/such/dir' }), /\/no\/such\/dir/)
})

test('output streams while the command runs', async () => {
  const seen = []
  await box.commands.run('for i in 1 2 3; do echo $i; sleep 0.2; done', {
    onStdout: (text) => seen.push([text, Date.now()]),
  })
  assert.equal(seen.map(([text]) => text).join(''), '1\n2\n3\n')
  assert.ok(seen.at(-1)[1] - seen[0][1] > 250, 'came one by one')
})

test('background commands are listed, can be waited for and killed', async () => {
  const handle = await box.commands.run('sleep 300', { background: true })
  assert.ok(handle.pid > 1)
  const listed = await box.commands.list()
  assert.ok(listed.some((p) => p.pid === handle.pid && p.args.includes('sleep 300')))
  assert.equal((await box.commands.run(`kill -0 ${handle.pid} && echo alive`)).stdout, 'alive\n')
  assert.equal(await handle.kill(), true)
  await assert.rejects(handle.wait(), (error) => error instanceof e2b.CommandExitError)
  assert.ok(!(await box.commands.list()).some((p) => p.pid === handle.pid))
  assert.equal(await box.commands.kill(handle.pid), false)
})

test('commands.connect follows a running command from now on', async () => {
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

test('a command that takes too long is ended', async () => {
  await assert.rejects(box.commands.run('echo $$ > /tmp/slow; exec sleep 300', { timeoutMs: 1_000 }), (error) =>
    error instanceof e2b.TimeoutError)
  const pid = (await box.files.read('/tmp/slow')).trim()
  await until('the process to go', async () =>
    (await box.commands.run(`kill -0 ${pid} 2>/dev/null && echo alive || echo gone`)).stdout === 'gone\n')
})

test('sendStdin reaches the command', async () => {
  const options = { background: true, ...(atLeast(2, 2) ? { stdin: true } : {}) }
  let text = ''
  const handle = await box.commands.run('read a; echo $a; read b; echo $b', { ...options, onStdout: (data) => (text += data) })
  await box.commands.sendStdin(handle.pid, 'one\n')
  await until('the echo', () => text === 'one\n')
  await box.commands.sendStdin(handle.pid, 'two\n')
  assert.equal((await handle.wait()).stdout, 'one\ntwo\n')
})

test('closeStdin ends the input', { skip: !atLeast(2, 13) }, async () => {
  const handle = await box.commands.run('cat', { background: true, stdin: true })
  await box.commands.sendStdin(handle.pid, 'all of it')
  await box.commands.closeStdin(handle.pid)
  assert.equal((await handle.wait()).stdout, 'all of it')
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

test('killing the sandbox ends a running command with an error', async () => {
  const other = await sandbox()
  const running = other.commands.run('sleep 300', { timeoutMs: 60_000 })
  running.catch(() => {})
  await until('the command', async () => (await other.commands.list()).length > 0)
  await other.kill()
  await assert.rejects(running)
})

test('pty.create gives a terminal', async () => {
  let text = ''
  const terminal = await box.pty.create({
    cols: 100,
    rows: 30,
    onData: (data) => (text += Buffer.from(data).toString()),
  })
  const type = (line) => box.pty.sendInput(terminal.pid, new TextEncoder().encode(line))
  await type('stty size\n')
  await until('the size', () => text.includes('30 100'))
  await box.pty.resize(terminal.pid, { cols: 77, rows: 22 })
  await type('stty size\n')
  await until('the new size', () => text.includes('22 77'))
  await type('exit\n')
  assert.equal((await terminal.wait()).exitCode, 0)
})
