import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Sandbox, atLeast, e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

test('Sandbox.create gives a running sandbox with the defaults', async () => {
  const made = await sandbox()
  assert.match(made.sandboxId, /^i[a-z0-9]{20}$/)
  assert.equal(await made.isRunning(), true)
  const info = await made.getInfo()
  assert.equal(info.sandboxId, made.sandboxId)
  assert.equal(info.name, 'base')
  if (atLeast(2, 0)) {
    assert.equal(info.state, 'running')
    assert.equal(info.cpuCount, 2)
    assert.ok(info.memoryMB >= 128)
  }
  assert.deepEqual(info.metadata, {})
  assert.ok(info.startedAt instanceof Date && info.endAt > info.startedAt)
})

test('Sandbox.create passes metadata and environment variables on', async () => {
  const made = await sandbox({ metadata: { purpose: 'a b&c=d', 'key ä': 'ü' }, envs: { FOO: 'bar baz' } })
  assert.deepEqual((await made.getInfo()).metadata, { purpose: 'a b&c=d', 'key ä': 'ü' })
  const result = await made.commands.run('echo "$FOO"; echo "$E2B_SANDBOX $E2B_SANDBOX_ID"')
  assert.equal(result.stdout, `bar baz\ntrue ${made.sandboxId}\n`)
  const [team, inFile] = (await made.commands.run('echo "$E2B_TEAM_ID $(cat /run/e2b/.E2B_TEAM_ID)"')).stdout.trim().split(' ')
  assert.match(team, /^[0-9a-f-]{36}$/)
  assert.equal(inFile, team)
  const own = await made.commands.run('echo "$FOO"', { envs: { FOO: 'mine' } })
  assert.equal(own.stdout, 'mine\n')
})

test('Sandbox.setTimeout moves the end, both ways', async () => {
  const made = await sandbox({ timeoutMs: 60_000 })
  await made.setTimeout(600_000)
  const later = (await made.getInfo()).endAt - Date.now()
  assert.ok(later > 550_000 && later < 650_000, `ends in ${later} ms`)
  await Sandbox.setTimeout(made.sandboxId, 30_000)
  const sooner = (await made.getInfo()).endAt - Date.now()
  assert.ok(sooner < 35_000, `ends in ${sooner} ms`)
})

test('Sandbox.connect reaches a running sandbox and never shortens its life', async () => {
  const made = await sandbox({ timeoutMs: 600_000 })
  await made.files.write('note.txt', 'kept')
  const again = await Sandbox.connect(made.sandboxId, { timeoutMs: 10_000 })
  assert.equal(again.sandboxId, made.sandboxId)
  assert.equal(await again.files.read('note.txt'), 'kept')
  assert.ok((await again.getInfo()).endAt - Date.now() > 500_000)
})

test('Sandbox.connect to an unknown sandbox says so', async () => {
  await assert.rejects(Sandbox.connect('i00000000000000000000'), (error) =>
    /doesn't exist|not found/i.test(error.message))
})

test('Sandbox.list filters by metadata and state, pages, newest first', { skip: !atLeast(2, 0) }, async () => {
  const batch = randomUUID()
  const ids = []
  for (let i = 0; i < 3; i++) ids.push((await sandbox({ metadata: { batch, 'odd key': `v&${i}` } })).sandboxId)
  const pages = Sandbox.list({ query: { metadata: { batch }, state: ['running'] }, limit: 2 })
  const first = await pages.nextItems()
  assert.equal(pages.hasNext, true)
  const second = await pages.nextItems()
  assert.equal(pages.hasNext, false)
  assert.deepEqual([...first, ...second].map((s) => s.sandboxId), [...ids].reverse())
  assert.deepEqual(first[0].metadata, { batch, 'odd key': 'v&2' })
  const one = await Sandbox.list({ query: { metadata: { batch, 'odd key': 'v&1' } } }).nextItems()
  assert.deepEqual(one.map((s) => s.sandboxId), [ids[1]])
  const paused = await Sandbox.list({ query: { metadata: { batch }, state: ['paused'] } }).nextItems()
  assert.deepEqual(paused, [])
})

test('Sandbox.list of old clients gives all at once', { skip: atLeast(2, 0) }, async () => {
  const batch = randomUUID()
  const ids = []
  for (let i = 0; i < 3; i++) ids.push((await sandbox({ metadata: { batch, 'odd key': `v&${i}` } })).sandboxId)
  const all = await Sandbox.list({ query: { metadata: { batch } } })
  assert.deepEqual(all.map((s) => s.sandboxId), [...ids].reverse())
  assert.deepEqual(all[0].metadata, { batch, 'odd key': 'v&2' })
  const one = await Sandbox.list({ query: { metadata: { batch, 'odd key': 'v&1' } } })
  assert.deepEqual(one.map((s) => s.sandboxId), [ids[1]])
})

test('Sandbox.kill ends it once', async () => {
  const made = await sandbox()
  assert.equal(await Sandbox.kill(made.sandboxId), true)
  assert.equal(await Sandbox.kill(made.sandboxId), false)
  assert.equal(await made.isRunning(), false)
  await assert.rejects(Sandbox.getInfo(made.sandboxId))
  await assert.rejects(made.commands.run('true'))
})

test('A sandbox ends when its time is up', async () => {
  const made = await sandbox({ timeoutMs: 2_000 })
  await until('the sandbox to end', async () => !(await made.isRunning()))
  assert.equal(await Sandbox.kill(made.sandboxId), false)
})

test('A wrong key is refused as such', async () => {
  const wrong = 'e2b_' + '0'.repeat(40)
  await assert.rejects(Sandbox.create({ apiKey: wrong }), (error) =>
    atLeast(2, 0) ? error instanceof e2b.AuthenticationError : /^401: /.test(error.message))
})

test('An unknown template is named in the error', async () => {
  await assert.rejects(Sandbox.create('no-such-template'), /no-such-template/)
})

test('Sandboxes run side by side and see nothing of each other', async () => {
  const [a, b] = await Promise.all([sandbox(), sandbox()])
  await a.files.write('/tmp/secret', 'of a')
  assert.equal(await b.files.exists('/tmp/secret').catch(() => false), false)
  await a.commands.run('sleep 600', { background: true })
  const others = await b.commands.run('ps -eo args | grep -c "[s]leep 600" || true')
  assert.equal(others.stdout.trim(), '0')
})

test('A sandbox without internet access still works and gets nowhere', { skip: !atLeast(1, 12) }, async () => {
  const made = await sandbox({ allowInternetAccess: false })
  const result = await made.commands.run('timeout 3 bash -c "</dev/tcp/192.0.2.1/80" && echo out || echo held')
  assert.equal(result.stdout, 'held\n')
})

test('Sandbox.updateNetwork replaces what a running sandbox may reach', { skip: !atLeast(2, 25) }, async () => {
  const made = await sandbox({ network: { allowOut: ['192.0.2.1'], denyOut: [e2b.ALL_TRAFFIC] } })
  assert.deepEqual((await made.getInfo()).network.allowOut, ['192.0.2.1'])
  await made.updateNetwork({ allowOut: ['192.0.2.2', 'example.org'], denyOut: [e2b.ALL_TRAFFIC] })
  assert.deepEqual((await made.getInfo()).network.allowOut, ['192.0.2.2', 'example.org'])
  await Sandbox.updateNetwork(made.sandboxId, {})
  assert.equal((await made.getInfo()).network?.allowOut, undefined)
})
