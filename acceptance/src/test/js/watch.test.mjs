import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from './cases.mjs'
import { atLeast, e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

/** Watches a fresh directory and keeps what was told of it. */
async function watch(directory, options = {}) {
  await box.files.makeDir(directory)
  const events = []
  const handle = await box.files.watchDir(directory, (event) => void events.push(event), options)
  const told = (type, name) => until(`${type} ${name}`, () => events.find((e) => e.type === type && e.name === name))
  return { handle, events, told }
}

test('files.watchDir tells what happens, until it is stopped', { covers: ['Filesystem.watchDir', 'WatchHandle.stop'] }, async () => {
  let ended
  const { handle, events, told } = await watch('watched', { onExit: (error) => void (ended = error ?? 'without an error') })
  await box.files.write('watched/new.txt', 'x')
  await told('create', 'new.txt')
  await told('write', 'new.txt')
  await box.commands.run('chmod 600 watched/new.txt')
  await told('chmod', 'new.txt')
  await box.files.rename('watched/new.txt', 'watched/renamed.txt')
  await told('rename', 'new.txt')
  await told('create', 'renamed.txt')
  await box.files.remove('watched/renamed.txt')
  await told('remove', 'renamed.txt')
  const order = ['create new.txt', 'rename new.txt', 'create renamed.txt', 'remove renamed.txt']
  const seen = events.map((e) => `${e.type} ${e.name}`)
  assert.deepEqual(seen.filter((event) => order.includes(event)), order)
  await handle.stop()
  await until('the end', () => ended)
  const before = events.length
  await box.files.write('watched/unseen.txt', 'x')
  assert.equal(await shellEcho(), 'after\n')
  assert.equal(events.length, before)
})

const shellEcho = async () => (await box.commands.run('echo after')).stdout

test('a watch without recursion sees nothing of what lies deeper', async () => {
  await box.files.makeDir('flat/deep')
  const { handle, events, told } = await watch('flat')
  await box.files.write('flat/deep/unseen.txt', 'x')
  await box.files.write('flat/seen.txt', 'x')
  await told('write', 'seen.txt')
  assert.ok(!events.some((e) => e.name.includes('unseen')))
  await handle.stop()
})

test('a recursive watch also sees directories that are made later', async () => {
  await box.files.makeDir('deep/there')
  const { handle, told } = await watch('deep', { recursive: true })
  await box.files.write('deep/there/old.txt', 'x')
  await told('create', 'there/old.txt')
  await box.files.makeDir('deep/later/on')
  await told('create', 'later')
  await told('create', 'later/on')
  await box.files.write('deep/later/on/new.txt', 'x')
  await told('create', 'later/on/new.txt')
  await told('write', 'later/on/new.txt')
  await handle.stop()
})

test('a watch tells of what, if asked to', { skip: !atLeast(2, 29) }, async () => {
  const { handle, told } = await watch('entries', { includeEntry: true })
  await box.files.write('entries/new.txt', 'four')
  const { entry } = await told('write', 'new.txt')
  assert.equal(entry.path, '/home/user/entries/new.txt')
  assert.equal(entry.type, 'file')
  await box.files.remove('entries/new.txt')
  assert.equal((await told('remove', 'new.txt')).entry, undefined)
  await handle.stop()
})

test('a watch ends when its time is up', async () => {
  let ended
  await watch('short', { timeoutMs: 1_000, onExit: (error) => void (ended = error) })
  await until('the end', () => ended)
  assert.ok(ended instanceof e2b.TimeoutError, `${ended}`)
})

test('the removal of the watched directory is told', async () => {
  const { handle, told } = await watch('removed/self')
  await box.files.write('removed/self/file', 'x')
  await told('create', 'file')
  await box.files.remove('removed')
  await told('remove', 'file')
  await handle.stop()
})

test('many changes come all, in order', async () => {
  const { handle, events, told } = await watch('many')
  await box.commands.run('for i in $(seq 500); do echo > many/$i; done; touch many/last')
  await told('create', 'last')
  const created = events.filter((e) => e.type === 'create').map((e) => e.name)
  assert.deepEqual(created, [...Array.from({ length: 500 }, (_, i) => `${i + 1}`), 'last'])
  await handle.stop()
})

test('a watch ends with an error when the sandbox is killed', async () => {
  const other = await sandbox()
  let ended
  await other.files.watchDir('/tmp', () => {}, { onExit: (error) => void (ended = error) })
  await other.kill()
  await until('the end', () => ended)
  if (atLeast(2, 30)) assert.ok(ended instanceof e2b.TimeoutError, `${ended}`)
})
