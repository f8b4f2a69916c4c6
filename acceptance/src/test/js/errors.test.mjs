// Which error class a client throws for what went wrong; older clients know fewer classes.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Sandbox, atLeast, e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const FileNotFound = e2b.FileNotFoundError ?? e2b.NotFoundError
const SandboxNotFound = e2b.SandboxNotFoundError ?? e2b.NotFoundError

let box
before(async () => {
  box = await sandbox()
})

/** Fails unless the call fails with exactly this class, and a message that holds the words. */
const fails = (call, kind, words = '') =>
  assert.rejects(call, (error) => {
    assert.equal(error.constructor, kind, `${error.name}: ${error.message}`)
    assert.ok(error.message.includes(words), error.message)
    return true
  })

test('a command that fails: CommandExitError', () => fails(box.commands.run('exit 1'), e2b.CommandExitError, 'exit status 1'))

test('a command that is not there: CommandExitError of the shell', () =>
  assert.rejects(box.commands.run('no-such-command'), (error) => error.exitCode === 127 && /no-such-command/.test(error.stderr)))

test('a working directory that is not there: InvalidArgumentError', () =>
  fails(box.commands.run('true', { cwd: '/no/such/dir' }), e2b.InvalidArgumentError, "cwd '/no/such/dir' does not exist"))

test('a user that is not there: AuthenticationError', async () => {
  await fails(box.commands.run('true', { user: 'nobody-here' }), e2b.AuthenticationError, "invalid username: 'nobody-here'")
  await fails(box.pty.create({ cols: 80, rows: 24, user: 'nobody-here', onData() {} }), e2b.AuthenticationError)
  await fails(box.files.list('/', { user: 'nobody-here' }), e2b.AuthenticationError)
})

// Clients up to 1.9 have no class for what /files answers then.
test('a user of files that is not there: AuthenticationError', { skip: !atLeast(2, 0) }, async () => {
  await fails(box.files.read('/etc/hostname', { user: 'nobody-here' }), e2b.AuthenticationError, 'nobody-here')
  await fails(box.files.write('x', 'x', { user: 'nobody-here' }), e2b.AuthenticationError, 'nobody-here')
})

test('a process that is not there: NotFoundError, or false', async () => {
  await fails(box.commands.connect(999_999), e2b.NotFoundError, 'process with pid 999999 not found')
  await fails(box.commands.sendStdin(999_999, 'x'), e2b.NotFoundError, '999999')
  if (box.commands.closeStdin) await fails(box.commands.closeStdin(999_999), e2b.NotFoundError, '999999')
  assert.equal(await box.commands.kill(999_999), false)
})

// Input is open in whatever clients before 2.2 start.
test('input for a command that takes none: SandboxError', { skip: !atLeast(2, 2) }, async () => {
  const handle = await box.commands.run('sleep 300', { background: true })
  await fails(box.commands.sendStdin(handle.pid, 'x'), e2b.SandboxError)
  await handle.kill()
})

test('a command past its time: TimeoutError', () =>
  fails(box.commands.run('sleep 300', { timeoutMs: 500 }), e2b.TimeoutError, 'deadline_exceeded'))

test('a call that was given up: TimeoutError', { skip: !atLeast(2, 30) }, async () => {
  const controller = new AbortController()
  const running = await box.commands.run('sleep 300', { background: true, signal: controller.signal })
  controller.abort()
  await assert.rejects(running.wait(), e2b.TimeoutError)
  assert.equal(await box.commands.kill(running.pid), true, 'the command went on')
  await fails(box.files.list('/', { signal: AbortSignal.abort() }), e2b.TimeoutError)
})

test('a file or directory that is not there: FileNotFoundError', async () => {
  await fails(box.files.read('no/such/file'), FileNotFound, "path '/home/user/no/such/file' does not exist")
  await fails(box.files.list('/no/such/dir'), FileNotFound, '/no/such/dir')
  await fails(box.files.rename('/no/such/file', '/tmp/x'), FileNotFound, '/no/such/file')
  await fails(box.files.watchDir('/no/such/dir', () => {}), FileNotFound, '/no/such/dir')
  if (box.files.getInfo) await fails(box.files.getInfo('/no/such/file'), FileNotFound, '/no/such/file')
})

test('a directory where a file belongs, and a file where a directory does: InvalidArgumentError', async () => {
  await fails(box.files.read('/tmp'), e2b.InvalidArgumentError, "path '/tmp' is a directory")
  await fails(box.files.write('/tmp', 'x'), e2b.InvalidArgumentError, 'path is a directory: /tmp')
  await fails(box.files.list('/etc/passwd'), e2b.InvalidArgumentError, '/etc/passwd')
  await fails(box.files.makeDir('/etc/passwd'), e2b.InvalidArgumentError, '/etc/passwd')
  await fails(box.files.watchDir('/etc/passwd', () => {}), e2b.InvalidArgumentError, '/etc/passwd')
})

test('a full disk: NotEnoughSpaceError', async () => {
  await box.commands.run('cat /dev/zero > /dev/shm/filler || true')
  await fails(box.files.write('/dev/shm/more', 'x'.repeat(100_000)), e2b.NotEnoughSpaceError)
  await box.commands.run('rm /dev/shm/filler')
  await box.files.write('/dev/shm/more', 'fits again')
})

test('more than a sandbox may have at once: RateLimitError', { skip: !atLeast(2, 9) }, async () => {
  const other = await sandbox()
  const envs = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`LARGE${i}`, 'x'.repeat(100_000)]))
  await fails((async () => {
    for (let i = 0; i < 30; i++) await other.commands.run('sleep 300', { background: true, envs })
  })(), atLeast(2, 30) ? e2b.RateLimitError : e2b.SandboxError)
})

test('a wrong token of the sandbox: AuthenticationError', async () => {
  const secured = await sandbox({ secure: true })
  const { sandboxId, sandboxDomain } = secured
  const stranger = new Sandbox({ sandboxId, sandboxDomain, envdVersion: '0.6.13', envdAccessToken: 'wrong' })
  await fails(stranger.commands.run('true'), e2b.AuthenticationError)
  await fails(stranger.files.list('/'), e2b.AuthenticationError)
  // Between 2.7 and 2.14 what names the sandbox in a request for a file is its token alone, unless the host does.
  const named = atLeast(2, 15) || !process.env.E2B_SANDBOX_URL
  await fails(stranger.files.read('/etc/hostname'), named ? e2b.AuthenticationError : e2b.TimeoutError)
  assert.equal((await secured.commands.run('echo mine')).stdout, 'mine\n')
})

test('a sandbox that was killed: SandboxNotFoundError for what begins, TimeoutError for the rest', async () => {
  const other = await sandbox()
  await other.kill()
  await fails(other.commands.run('true'), SandboxNotFound, 'not running anymore')
  await fails(other.files.watchDir('/tmp', () => {}), SandboxNotFound, 'not running anymore')
  await fails(other.commands.list(), e2b.TimeoutError, 'sandbox timeout')
  await fails(other.files.read('/etc/hostname'), e2b.TimeoutError)
  await fails(other.files.write('x', 'x'), e2b.TimeoutError)
})

test('a sandbox that is killed meanwhile: TimeoutError', async () => {
  const other = await sandbox()
  const handle = await other.commands.run('sleep 300', { background: true, timeoutMs: 60_000 })
  const ended = handle.wait()
  ended.catch(() => {})
  await until('the command', async () => (await other.commands.list()).length > 0)
  await other.kill()
  if (atLeast(2, 30)) await fails(ended, e2b.TimeoutError, 'killed')
  else await assert.rejects(ended)
})
