import assert from 'node:assert/strict'
import { after } from 'node:test'
import { note, test } from './cases.mjs'
import { Sandbox, atLeast, e2b } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const { Volume } = e2b
if (Volume) note('Volume', new Volume('id', 'name', 'token'))
const has = { skip: !Volume }
const VolumeMissing = e2b.VolumeNotFoundError ?? e2b.NotFoundError
const PathMissing = e2b.VolumePathNotFoundError ?? e2b.NotFoundError

const made = []
after(async () => {
  await Promise.all(mounting.map((one) => one.kill().catch(() => {})))
  await Promise.all(made.map((one) => Volume.destroy(one.volumeId).catch(() => {})))
})

const mounting = []
const fresh = async () => {
  const one = await Volume.create(`v${Date.now()}-${Math.floor(Math.random() * 1e6)}`)
  made.push(one)
  return one
}
const box = async (volumeMounts, options = {}) => {
  const one = await sandbox({ ...options, volumeMounts })
  mounting.push(one)
  return one
}
const text = async (one, path) => (await one.commands.run(`cat ${path}`)).stdout

test('a volume is made, found, listed and destroyed once',
  { covers: ['Volume.create', 'Volume.connect', 'Volume.getInfo', 'Volume.list', 'Volume.destroy'] }, async () => {
    const volume = await fresh()
    assert.match(volume.volumeId, /^[0-9a-f-]{36}$/)
    const info = await Volume.getInfo(volume.volumeId)
    assert.equal(info.name, volume.name)
    assert.ok(info.token)
    const again = await Volume.connect(volume.volumeId)
    assert.equal(again.name, volume.name)
    assert.ok((await Volume.list()).some((each) => each.volumeId === volume.volumeId && each.name === volume.name))
    assert.equal(await Volume.destroy(volume.volumeId), true)
    assert.equal(await Volume.destroy(volume.volumeId), false)
    await assert.rejects(Volume.getInfo(volume.volumeId), (error) => error instanceof VolumeMissing)
  })

test('names are checked and are of one volume', has, async () => {
  const volume = await fresh()
  await assert.rejects(Volume.create(volume.name), (error) =>
    error instanceof e2b.VolumeError && error.message.includes(`Volume with name '${volume.name}' already exists`))
  await assert.rejects(Volume.create('no spaces'), (error) => error.message.includes('Invalid volume name'))
  await assert.rejects(Volume.getInfo('x'), (error) => error.message.includes('Invalid volume ID'))
})

test('files of a volume without any sandbox', {
  covers: ['Volume.makeDir', 'Volume.writeFile', 'Volume.readFile', 'Volume.list', 'Volume.getInfo', 'Volume.exists',
    'Volume.updateMetadata', 'Volume.remove'],
}, async () => {
  const volume = await fresh()
  const directory = await volume.makeDir('/a/b', { force: true, mode: 0o700, uid: 1000, gid: 1000 })
  assert.equal(directory.type, 'directory')
  assert.equal(directory.mode & 0o777, 0o700)
  const file = await volume.writeFile('/a/b/c.txt', 'hello', { mode: 0o600 })
  assert.equal(file.size, 5)
  assert.equal(file.type, 'file')
  assert.ok(file.mtime instanceof Date && !Number.isNaN(file.mtime.getTime()))
  assert.equal(await volume.readFile('/a/b/c.txt'), 'hello')
  const bytes = await volume.readFile('/a/b/c.txt', { format: 'bytes' })
  assert.deepEqual([...bytes], [...new TextEncoder().encode('hello')])
  await assert.rejects(volume.writeFile('/a/b/c.txt', 'again'), (error) => error.message.includes('409'))
  await volume.writeFile('/a/b/c.txt', 'again', { force: true })
  assert.equal(await volume.readFile('/a/b/c.txt'), 'again')
  assert.deepEqual((await volume.list('/', { depth: 3 })).map((each) => each.path), ['/a', '/a/b', '/a/b/c.txt'])
  assert.deepEqual((await volume.list('/')).map((each) => each.name), ['a'])
  assert.equal((await volume.getInfo('/a/b/c.txt')).size, 5)
  const changed = await volume.updateMetadata('/a/b/c.txt', { mode: 0o644, uid: 7 })
  assert.equal(changed.mode & 0o777, 0o644)
  assert.equal(changed.uid, 7)
  assert.equal(await volume.exists('/a/b/c.txt'), true)
  await volume.remove('/a')
  assert.equal(await volume.exists('/a/b/c.txt'), false)
  await assert.rejects(volume.readFile('/a/b/c.txt'), (error) => error instanceof PathMissing)
  await assert.rejects(volume.remove('/a'), (error) => error instanceof PathMissing)
})

test('a large file goes there and back', has, async () => {
  const volume = await fresh()
  const large = new Uint8Array(8 << 20).map((_, i) => i % 251)
  await volume.writeFile('/large', new Blob([large]))
  assert.deepEqual(Buffer.from(await volume.readFile('/large', { format: 'bytes' })), Buffer.from(large))
})

test('what one sandbox writes another one reads, and so does the volume', has, async () => {
  const volume = await fresh()
  await volume.writeFile('/from-outside.txt', 'outside')
  const [one, two] = await Promise.all([box({ '/data': volume }), box({ '/srv/shared': volume.name })])
  assert.equal(await text(one, '/data/from-outside.txt'), 'outside')
  await one.files.write('/data/from-one.txt', 'one')
  assert.equal(await two.files.read('/srv/shared/from-one.txt'), 'one')
  assert.equal(await volume.readFile('/from-one.txt'), 'one')
  await two.commands.run('echo two > /srv/shared/from-two.txt')
  assert.equal(await text(one, '/data/from-two.txt'), 'two\n')
  assert.deepEqual((await Sandbox.getInfo(one.sandboxId)).volumeMounts, [{ name: volume.name, path: '/data' }])
})

test('a volume outlives its sandboxes, and is not destroyed while one has it', has, async () => {
  const volume = await fresh()
  const one = await box({ '/data': volume })
  await one.files.write('/data/kept.txt', 'kept')
  await assert.rejects(Volume.destroy(volume.volumeId), (error) =>
    error.message.includes(`is in use by sandbox ${one.sandboxId} (running)`))
  await one.kill()
  assert.equal(await volume.readFile('/kept.txt'), 'kept')
  const two = await box({ '/data': volume })
  assert.equal(await two.files.read('/data/kept.txt'), 'kept')
})

test('a volume that is mounted read-only cannot be changed from inside', has, async () => {
  const volume = await fresh()
  await volume.writeFile('/note.txt', 'read me')
  const one = await box({ '/data': `${volume.name}:ro` })
  assert.equal(await text(one, '/data/note.txt'), 'read me')
  const tried = await one.commands.run('sudo touch /data/x', { user: 'root' }).catch((error) => error)
  assert.match(tried.stderr ?? String(tried), /Read-only file system/)
})

test('a volume that is not there, and a bad path: the sandbox is refused', has, async () => {
  await assert.rejects(Sandbox.create({ volumeMounts: { '/data': 'nosuchvolume' } }), (error) =>
    error.message.includes("Volume 'nosuchvolume' not found"))
  const volume = await fresh()
  await assert.rejects(Sandbox.create({ volumeMounts: { '/proc/x': volume } }), (error) =>
    error.message.includes('nothing can be mounted'))
})

test('pause and resume keep what runs on a volume, whatever others changed meanwhile', has, async () => {
  const volume = await fresh()
  const one = await box({ '/data': volume })
  await one.commands.run('while :; do echo tick >> /data/log; sleep 0.1; done', { background: true })
  await one.pause()
  await volume.writeFile('/from-outside', 'new')
  const again = await Sandbox.connect(one.sandboxId)
  assert.equal(await again.files.read('/data/from-outside'), 'new')
  const before = (await volume.getInfo('/log')).size
  await new Promise((resolve) => setTimeout(resolve, 1000))
  assert.ok((await volume.getInfo('/log')).size > before, 'the process goes on writing')
})

test('forks have the volume of their source', { skip: !Volume || !atLeast(2, 35) }, async () => {
  const volume = await fresh()
  const one = await box({ '/data': volume })
  const [copy] = await one.fork({ count: 1 })
  mounting.push(copy)
  await copy.files.write('/data/from-fork', 'fork')
  assert.equal(await one.files.read('/data/from-fork'), 'fork')
})
