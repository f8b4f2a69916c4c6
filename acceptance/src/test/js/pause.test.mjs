import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sandbox, atLeast, deep, e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const deepTest = deep(test)

const api = process.env.E2B_API_URL ?? `https://api.${process.env.E2B_DOMAIN}`
const pauses = { skip: !atLeast(2, 9) }
const hasSnapshots = { skip: !atLeast(2, 13) }
const keepsFilesOnly = { skip: !atLeast(2, 31) }
const reboots = { skip: !atLeast(2, 49) }

const pause = (one, options) => (one.pause ? one.pause(options) : one.betaPause(options))

/** A process that counts into a file as long as it lives. */
const count = 'i=0; while :; do i=$((i+1)); echo $i > /tmp/count.new; mv /tmp/count.new /tmp/count; sleep 0.05; done'
const counted = async (one) => Number(await one.files.read('/tmp/count'))

const goesOn = async (one, from) => until('the count to go on', async () => (await counted(one)) > from)

test('Sandbox.pause and connect keep files, processes, variables and terminals', pauses, async () => {
  const one = await sandbox({ envs: { KEPT: 'yes' } })
  await one.files.write('note.txt', 'kept')
  const counter = await one.commands.run(count, { background: true })
  let shown = ''
  const shell = await one.pty.create({ cols: 80, rows: 24, onData: (data) => (shown += new TextDecoder().decode(data)) })
  await one.pty.sendInput(shell.pid, new TextEncoder().encode('MEMO=in-memory; echo re""ady\n'))
  await until('the shell', () => shown.includes('ready'))

  assert.equal(await pause(one), true)
  assert.equal(await one.isRunning(), false)
  assert.equal((await Sandbox.getInfo(one.sandboxId)).state, 'paused')

  const again = await Sandbox.connect(one.sandboxId)
  assert.equal(again.sandboxId, one.sandboxId)
  assert.equal(await again.isRunning(), true)
  assert.equal(await again.files.read('note.txt'), 'kept')
  await goesOn(again, await counted(again))
  const processes = await again.commands.list()
  assert.ok(processes.some((each) => each.pid === counter.pid), 'the process has its number')
  shown = ''
  const same = await again.pty.connect(shell.pid, { onData: (data) => (shown += new TextDecoder().decode(data)) })
  await again.pty.sendInput(same.pid, new TextEncoder().encode('echo it is $MEMO\n'))
  await until('the variable', () => shown.includes('it is in-memory'))
  assert.equal((await again.commands.run('echo $KEPT')).stdout, 'yes\n')
})

deepTest('a command that sleeps through a pause ends as if nothing had happened', pauses, async () => {
  const one = await sandbox()
  const command = await one.commands.run('echo begun; sleep 3; echo slept', { background: true })
  await until('its beginning', () => command.stdout.includes('begun'))
  await pause(one)
  const again = await Sandbox.connect(one.sandboxId)
  const handle = await again.commands.connect(command.pid)
  const result = await handle.wait()
  assert.equal(result.exitCode, 0)
  assert.match(result.stdout, /slept\n$/)
})

test('a second pause says that there is nothing to pause', pauses, async () => {
  const one = await sandbox()
  assert.equal(await pause(one), true)
  assert.equal(await pause(one), false)
})

test('pause of an unknown sandbox says so', pauses, async () => {
  const pauseById = Sandbox.pause ?? Sandbox.betaPause
  await assert.rejects(pauseById.call(Sandbox, 'i00000000000000000000'), (error) =>
    atLeast(2, 13) ? error instanceof e2b.SandboxNotFoundError || error instanceof e2b.NotFoundError : true)
})

test('a paused sandbox can be killed once', pauses, async () => {
  const one = await sandbox()
  await pause(one)
  assert.equal(await Sandbox.kill(one.sandboxId), true)
  assert.equal(await Sandbox.kill(one.sandboxId), false)
  await assert.rejects(Sandbox.connect(one.sandboxId))
})

test('Sandbox.list tells paused from running ones', pauses, async () => {
  const purpose = `paused ${Math.random()}`
  const [awake, asleep] = await Promise.all([sandbox({ metadata: { purpose } }), sandbox({ metadata: { purpose } })])
  await pause(asleep)
  const found = async (state) =>
    (await Sandbox.list({ query: { metadata: { purpose }, state } }).nextItems()).map((each) => each.sandboxId)
  assert.deepEqual(await found(['paused']), [asleep.sandboxId])
  assert.deepEqual(await found(['running']), [awake.sandboxId])
  assert.equal((await found(undefined)).length, 2)
})

deepTest('ten pauses in a row lose nothing', pauses, async () => {
  let one = await sandbox()
  await one.commands.run(count, { background: true })
  await until('the count to begin', async () => (await counted(one).catch(() => 0)) > 0)
  for (let i = 0; i < 10; i++) {
    await one.files.write(`round-${i}`, `${i}`)
    await pause(one)
    one = await Sandbox.connect(one.sandboxId)
    await goesOn(one, await counted(one))
    for (let j = 0; j <= i; j++) assert.equal(await one.files.read(`round-${j}`), `${j}`)
  }
})

deepTest('connect while it is being paused waits and brings it back', pauses, async () => {
  const one = await sandbox()
  const pausing = pause(one)
  const again = await Sandbox.connect(one.sandboxId)
  await pausing
  const last = await Sandbox.connect(one.sandboxId)
  assert.equal((await last.commands.run('echo here')).stdout, 'here\n')
  assert.equal(again.sandboxId, last.sandboxId)
})

test('the timeout of a paused sandbox starts again at resume', pauses, async () => {
  const one = await sandbox({ timeoutMs: 10_000 })
  await pause(one)
  await Sandbox.connect(one.sandboxId, { timeoutMs: 300_000 })
  const { endAt } = await Sandbox.getInfo(one.sandboxId)
  assert.ok(endAt - Date.now() > 200_000, `${endAt}`)
})

test('setTimeout of 0 pauses a sandbox whose lifecycle says pause', { skip: !atLeast(2, 14) }, async () => {
  const one = await sandbox({ timeoutMs: 300_000, lifecycle: { onTimeout: 'pause' } })
  await one.files.write('note.txt', 'kept')
  await one.setTimeout(0)
  await until('its pause', async () => (await Sandbox.getInfo(one.sandboxId)).state === 'paused', 120_000)
  const again = await Sandbox.connect(one.sandboxId)
  assert.equal(await again.files.read('note.txt'), 'kept')
})

test('Sandbox.pause without memory keeps the files and starts anew', keepsFilesOnly, async () => {
  const one = await sandbox()
  await one.files.write('note.txt', 'kept')
  await one.commands.run('sleep 1000', { background: true })
  const boot = (await one.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout
  assert.equal(await one.pause({ keepMemory: false }), true)
  const again = await Sandbox.connect(one.sandboxId)
  assert.equal(await again.files.read('note.txt'), 'kept')
  assert.notEqual((await again.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout, boot)
  assert.equal((await again.commands.run('pgrep -c sleep || true')).stdout, '0\n')
})

test("connect with onResume 'reboot' leaves the memory behind", reboots, async () => {
  const one = await sandbox()
  await one.files.write('note.txt', 'kept')
  await one.commands.run('sleep 1000', { background: true })
  await one.pause()
  const again = await Sandbox.connect(one.sandboxId, { onResume: 'reboot' })
  assert.equal(await again.files.read('note.txt'), 'kept')
  assert.equal((await again.commands.run('pgrep -c sleep || true')).stdout, '0\n')
})

test('what cannot be saved is named, and the sandbox goes on', keepsFilesOnly, async () => {
  const one = await sandbox()
  const script = 'import os, time; kept = os.pidfd_open(os.getpid()); print("open", flush=True); time.sleep(1000)'
  const command = await one.commands.run(`python3 -c '${script}'`, { background: true })
  await until('its descriptor', () => command.stdout.includes('open'))
  const untilSaved = { keepMemory: true, headers: { 'Cay-Pause-Ack': 'saved' } }
  await assert.rejects(one.pause(untilSaved), /python3.*pidfd/)
  assert.equal(await one.isRunning(), true)
  assert.equal((await one.commands.run('echo on')).stdout, 'on\n')
  // Answered before anybody tries: it stays frozen, with the reason.
  await one.pause({ keepMemory: true })
  const headers = { 'X-API-Key': process.env.E2B_API_KEY }
  const kept = async () =>
    (await (await fetch(`${api}/sandboxes/${one.sandboxId}`, { headers })).json()).paused
  await until('the reason', async () => (await kept()).durability.reason?.includes('pidfd'))
  assert.equal((await kept()).durability.state, 'frozen')
  const again = await Sandbox.connect(one.sandboxId)
  assert.equal((await again.commands.run('pgrep -c python3')).stdout, '1\n')
})

test('a sandbox whose time is up is paused if its lifecycle says so', { skip: !atLeast(2, 14) }, async () => {
  const one = await sandbox({ timeoutMs: 2_000, lifecycle: { onTimeout: 'pause' } })
  await one.files.write('note.txt', 'kept')
  assert.equal((await one.getInfo()).lifecycle.onTimeout, 'pause')
  await until('the pause', async () => (await Sandbox.getInfo(one.sandboxId)).state === 'paused')
  const again = await Sandbox.connect(one.sandboxId)
  assert.equal(await again.files.read('note.txt'), 'kept')
})

deepTest('traffic brings a sandbox back if its lifecycle says so', { skip: !atLeast(2, 14) }, async () => {
  const one = await sandbox({ timeoutMs: 60_000, lifecycle: { onTimeout: 'pause', autoResume: true } })
  await one.files.write('index.html', 'served')
  await one.commands.run('python3 -m http.server 8000', { background: true })
  const address = one.getHost(8000)
  const get = () =>
    process.env.E2B_SANDBOX_URL
      ? fetch(`${process.env.E2B_SANDBOX_URL}/index.html`, {
          headers: { 'E2b-Sandbox-Id': one.sandboxId, 'E2b-Sandbox-Port': '8000' },
        })
      : fetch(`https://${address}/index.html`)
  await until('the server', async () => (await get()).status === 200)
  await pause(one)
  const answers = await Promise.all(Array.from({ length: 5 }, get))
  for (const answer of answers) {
    assert.equal(answer.status, 200)
    assert.equal(await answer.text(), 'served')
  }
  await pause(one)
  assert.equal((await one.commands.run('echo woken')).stdout, 'woken\n')
})

test('Sandbox.fork copies what runs', { skip: !atLeast(2, 35) }, async () => {
  const one = await sandbox({ metadata: { purpose: 'fork' } })
  await one.files.write('note.txt', 'of both')
  await one.commands.run(count, { background: true })
  await until('the count to begin', async () => (await counted(one).catch(() => 0)) > 0)
  const forks = await one.fork({ count: 3 })
  assert.equal(forks.length, 3)
  assert.equal(new Set([one, ...forks].map((each) => each.sandboxId)).size, 4)
  await Promise.all(
    forks.map(async (fork, i) => {
      assert.equal(await fork.files.read('note.txt'), 'of both')
      await fork.files.write('note.txt', `of ${i}`)
      await goesOn(fork, await counted(fork))
      assert.equal((await fork.commands.run('hostname')).stdout.trim(), fork.sandboxId)
      assert.deepEqual((await fork.getInfo()).metadata, { purpose: 'fork' })
    }),
  )
  assert.equal(await one.files.read('note.txt'), 'of both')
  await goesOn(one, await counted(one))
  await Promise.all(forks.map((fork) => fork.kill()))
})

test('a fork has the locks of its source, also on files that are mapped', { skip: !atLeast(2, 35) }, async () => {
  const one = await sandbox()
  await one.files.write('lock.py', `
import fcntl, mmap, sys, time
file = open('locked', 'r+b')
mapped = mmap.mmap(file.fileno(), 4)
fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print('locked', flush=True)
time.sleep(1000)
`)
  await one.files.write('locked', 'file')
  const holder = await one.commands.run('python3 lock.py', { background: true })
  await until('the lock', () => holder.stdout.includes('locked'))
  const [fork] = await one.fork()
  for (const each of [one, fork]) {
    await assert.rejects(each.commands.run('timeout 5 python3 lock.py'), { stderr: /BlockingIOError/ })
  }
  await fork.kill()
})

test('Sandbox.fork of a paused sandbox is refused', { skip: !atLeast(2, 35) }, async () => {
  const one = await sandbox()
  await one.pause()
  await assert.rejects(one.fork())
})

test('Sandbox.createSnapshot gives something to create sandboxes from', hasSnapshots, async () => {
  const name = `snap-${Math.random().toString(36).slice(2, 10)}`
  const one = await sandbox({ envs: { KEPT: 'yes' } })
  await one.files.write('note.txt', 'before')
  await one.commands.run(count, { background: true })
  await until('the count to begin', async () => (await counted(one).catch(() => 0)) > 0)
  const taken = await one.createSnapshot({ name })
  assert.ok(taken.snapshotId.includes(name), taken.snapshotId)
  await one.files.write('note.txt', 'after')
  await goesOn(one, await counted(one))

  const copy = await Sandbox.create(taken.snapshotId, { timeoutMs: 60_000 })
  assert.equal(await copy.files.read('note.txt'), 'before')
  await goesOn(copy, await counted(copy))
  assert.equal((await copy.commands.run('echo $KEPT')).stdout, 'yes\n')
  await copy.kill()

  const listed = await one.listSnapshots().nextItems()
  assert.deepEqual(listed.map((each) => each.snapshotId), [taken.snapshotId])
  const unnamed = await one.createSnapshot()
  assert.equal((await one.listSnapshots().nextItems()).length, 2)
  const again = await one.createSnapshot({ name })
  assert.equal(again.snapshotId, taken.snapshotId, 'a name that exists is given anew')
  const newer = await Sandbox.create(again.snapshotId, { timeoutMs: 60_000 })
  assert.equal(await newer.files.read('note.txt'), 'after')
  await newer.kill()
  assert.equal(await Sandbox.deleteSnapshot(taken.snapshotId), true)
  assert.equal(await Sandbox.deleteSnapshot(taken.snapshotId), false)
  assert.equal(await Sandbox.deleteSnapshot(unnamed.snapshotId), true)
  assert.deepEqual(await one.listSnapshots().nextItems(), [])
  await assert.rejects(Sandbox.create(taken.snapshotId))
})

deepTest('who follows commands hears nothing of a snapshot or a fork but a moment of silence', hasSnapshots, async () => {
  const one = await sandbox()
  let written = ''
  const counting = await one.commands.run('for i in $(seq 400); do echo $i; sleep 0.01; done; exit 3', {
    background: true,
    timeoutMs: 0,
    onStdout: (text) => (written += text),
  })
  const ended = counting.wait().catch((error) => error)
  let shown = ''
  const shell = await one.pty.create({ cols: 80, rows: 24, onData: (data) => (shown += new TextDecoder().decode(data)) })
  let over = false
  const others = (async () => {
    for (let i = 0; !over; i++) {
      assert.equal((await one.commands.run(`echo ${i}`)).stdout, `${i}\n`)
      await one.files.write('note', `${i}`)
      assert.equal(await one.files.read('note'), `${i}`)
    }
  })()
  await until('the count to begin', () => written.includes('10'))
  await one.createSnapshot()
  if (one.fork) await Promise.all((await one.fork()).map((copy) => copy.kill()))
  await one.createSnapshot()
  over = true
  await others
  await one.pty.sendInput(shell.pid, new TextEncoder().encode('echo al""ive\n'))
  await until('the terminal', () => shown.includes('alive'))
  const { exitCode, stdout } = await ended
  assert.equal(exitCode, 3)
  assert.deepEqual(stdout.trim().split('\n').map(Number), Array.from({ length: 400 }, (_, i) => i + 1))
})
