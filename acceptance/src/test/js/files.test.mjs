import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before } from 'node:test'
import { test } from './cases.mjs'
import { atLeast, e2b } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

const shell = async (command) => (await box.commands.run(command)).stdout
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

test('files.write and files.read', { covers: ['Filesystem.write', 'Filesystem.read'] }, async () => {
  const info = await box.files.write('hello.txt', 'Hello, wörld')
  assert.equal(info.path, '/home/user/hello.txt')
  assert.equal(info.name, 'hello.txt')
  assert.equal(info.type, 'file')
  assert.equal(await box.files.read('hello.txt'), 'Hello, wörld')
  assert.equal(await shell('stat -c "%U %G %a" hello.txt'), 'user user 644\n')
})

test('files.write makes parents and overwrites', async () => {
  await box.files.write('/home/user/a/b/c.txt', 'a longer first text')
  await box.files.write('/home/user/a/b/c.txt', 'short')
  assert.equal(await box.files.read('/home/user/a/b/c.txt'), 'short')
  assert.equal(await shell('stat -c "%U %a" a a/b'), 'user 755\nuser 755\n')
})

test('files belong to whom they were written as, and paths begin at his home', async () => {
  await box.files.write('/etc/cay-test', 'x', { user: 'root' })
  assert.equal(await shell('stat -c %U /etc/cay-test'), 'root\n')
  await box.files.write('of-root', 'x', { user: 'root' })
  assert.equal(await shell('sudo stat -c %U /root/of-root'), 'root\n')
  await box.files.write('~/of-user', 'x')
  assert.equal(await shell('stat -c %U ~/of-user'), 'user\n')
  assert.equal(await box.files.read('../user/./of-user'), 'x')
})

test('an empty file is read as empty', async () => {
  await box.files.write('empty', '')
  assert.equal(await box.files.read('empty'), '')
  // Older clients give empty text whatever was asked for.
  if (!atLeast(2, 51)) return
  assert.equal((await box.files.read('empty', { format: 'bytes' })).length, 0)
  assert.equal((await box.files.read('empty', { format: 'blob' })).size, 0)
})

test('files.read gives text, bytes, a blob or a stream', async () => {
  const bytes = randomBytes(300_000)
  await box.files.write('random.bin', new Blob([bytes]))
  assert.deepEqual(Buffer.from(await box.files.read('random.bin', { format: 'bytes' })), bytes)
  assert.deepEqual(Buffer.from(await (await box.files.read('random.bin', { format: 'blob' })).arrayBuffer()), bytes)
  const parts = []
  for await (const part of await box.files.read('random.bin', { format: 'stream' })) parts.push(part)
  assert.deepEqual(Buffer.concat(parts), bytes)
})

test('files.write takes text, an ArrayBuffer, a blob or a stream', async () => {
  const bytes = randomBytes(300_000)
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  for (const data of [buffer, new Blob([bytes]), new Blob([bytes]).stream()]) {
    await box.files.write('written.bin', data)
    assert.equal((await shell('sha256sum written.bin')).split(' ')[0], sha256(bytes))
  }
})

test('files go there and back compressed', { skip: !atLeast(2, 19) }, async () => {
  const text = 'many words, '.repeat(50_000)
  await box.files.write('zipped.txt', text, { gzip: true })
  assert.equal(await shell('stat -c %s zipped.txt'), `${text.length}\n`)
  assert.equal(await box.files.read('zipped.txt', { gzip: true }), text)
  await box.files.write([{ path: 'z1', data: '1' }, { path: 'z2', data: '2' }], { gzip: true })
  assert.equal(await shell('cat z1 z2'), '12')
})

test('files are sent as they are when asked to', { skip: !atLeast(2, 19) }, async () => {
  const written = await box.files.write([{ path: 'o1', data: 'one' }, { path: 'o2', data: 'two' }], { useOctetStream: true })
  assert.deepEqual(written.map((f) => f.path), ['/home/user/o1', '/home/user/o2'])
  assert.equal(await shell('cat o1 o2'), 'onetwo')
})

test('ten megabytes go there and back', async () => {
  const bytes = randomBytes(10 * 1024 * 1024)
  await box.files.write('big.bin', new Blob([bytes]))
  assert.equal((await shell('sha256sum big.bin')).split(' ')[0], sha256(bytes))
  assert.equal(sha256(await box.files.read('big.bin', { format: 'bytes' })), sha256(bytes))
})

test('several files in one call', async () => {
  const written = await box.files.write([{ path: 'one.txt', data: '1' }, { path: 'dir/two.txt', data: '2' }])
  assert.deepEqual(written.map((f) => f.path), ['/home/user/one.txt', '/home/user/dir/two.txt'])
  assert.equal(await box.files.read('dir/two.txt'), '2')
})

test('files.writeFiles writes many', { covers: ['Filesystem.writeFiles'] }, async () => {
  const files = Array.from({ length: 50 }, (_, i) => ({ path: `many/${i}.txt`, data: `${i}` }))
  assert.equal((await box.files.writeFiles(files)).length, 50)
  assert.equal(await shell('cat many/*.txt | wc -c'), '90\n')
  assert.deepEqual(await box.files.writeFiles([]), [])
})

test('metadata of files is kept, told and replaced', { skip: !atLeast(2, 29) }, async () => {
  const written = await box.files.write('meta.txt', 'x', { metadata: { Author: 'me', 'x-run': '7' } })
  assert.deepEqual(written.metadata, { author: 'me', 'x-run': '7' })
  assert.deepEqual((await box.files.getInfo('meta.txt')).metadata, { author: 'me', 'x-run': '7' })
  assert.deepEqual((await box.files.list('/home/user')).find((e) => e.name === 'meta.txt').metadata, { author: 'me', 'x-run': '7' })
  await box.files.write('meta.txt', 'y', { metadata: { other: 'z' }, useOctetStream: true })
  assert.deepEqual((await box.files.getInfo('meta.txt')).metadata, { other: 'z' })
  await box.files.write('meta.txt', 'z')
  assert.equal((await box.files.getInfo('meta.txt')).metadata, undefined)
  await assert.rejects(box.files.write('meta.txt', 'x', { metadata: { long: 'x'.repeat(5_000) } }), e2b.InvalidArgumentError)
})

test('files.list gives entries in order, to the depth that was asked for', { covers: ['Filesystem.list'] }, async () => {
  await box.commands.run('mkdir -p tree/b/c tree/d && touch tree/a tree/b/c/e && ln -s a tree/link && ln -s nowhere tree/broken')
  const names = async (depth) => (await box.files.list('tree', depth && { depth })).map((e) => e.path.replace('/home/user/tree/', ''))
  assert.deepEqual(await names(), ['a', 'b', 'd', 'link'])
  assert.deepEqual((await box.files.list('tree')).map((e) => e.type), ['file', 'dir', 'dir', 'file'])
  assert.deepEqual(await names(2), ['a', 'b', 'b/c', 'd', 'link'])
  assert.deepEqual(await names(9), ['a', 'b', 'b/c', 'b/c/e', 'd', 'link'])
  await assert.rejects(box.files.list('tree', { depth: 0 }), e2b.InvalidArgumentError)
  assert.deepEqual(await box.files.list('tree/d'), [])
})

test('files.makeDir makes all that is missing, once', { covers: ['Filesystem.makeDir'] }, async () => {
  assert.equal(await box.files.makeDir('made/of/several'), true)
  assert.equal(await box.files.makeDir('made/of/several'), false)
  assert.equal(await shell('stat -c "%U %a" made made/of/several'), 'user 755\nuser 755\n')
})

test('files.rename moves files and directories', { covers: ['Filesystem.rename'] }, async () => {
  await box.files.write('from.txt', 'moved')
  await box.files.write('into/there.txt', 'overwritten')
  const info = await box.files.rename('from.txt', 'into/there.txt')
  assert.equal(info.path, '/home/user/into/there.txt')
  assert.equal(await box.files.read('into/there.txt'), 'moved')
  assert.equal(await box.files.exists('from.txt'), false)
  await box.files.rename('into', 'new/parent/into')
  assert.equal(await box.files.read('new/parent/into/there.txt'), 'moved')
})

test('files.remove removes files, trees, and what is not there', { covers: ['Filesystem.remove'] }, async () => {
  await box.commands.run('mkdir -p gone/a/b && touch gone/a/b/c file-gone && ln -s / gone/root')
  await box.files.remove('file-gone')
  await box.files.remove('gone')
  await box.files.remove('gone')
  assert.equal(await shell('ls -d gone file-gone 2>&1 | grep -c "No such"; ls / | grep -c etc'), '2\n1\n')
})

test('files.exists', { covers: ['Filesystem.exists'] }, async () => {
  assert.equal(await box.files.exists('/etc/passwd'), true)
  assert.equal(await box.files.exists('/etc'), true)
  assert.equal(await box.files.exists('/etc/nothing'), false)
})

test('files.getInfo tells of files, directories and links', { covers: ['Filesystem.getInfo'] }, async () => {
  await box.commands.run('echo 1234 > info.txt && chmod 640 info.txt && ln -sf info.txt info-link && mkdir -p info-dir && sudo touch info-root')
  const file = await box.files.getInfo('info.txt')
  assert.deepEqual([file.name, file.type, file.path, file.size, file.mode, file.permissions, file.owner, file.group],
    ['info.txt', 'file', '/home/user/info.txt', 5, 0o640, '-rw-r-----', 'user', 'user'])
  assert.ok(Math.abs(file.modifiedTime - Date.now()) < 60_000)
  assert.equal(file.symlinkTarget, undefined)
  const link = await box.files.getInfo('info-link')
  assert.deepEqual([link.type, link.symlinkTarget, link.permissions], ['file', '/home/user/info.txt', 'Lrwxrwxrwx'])
  const directory = await box.files.getInfo('info-dir')
  assert.deepEqual([directory.type, directory.permissions], ['dir', 'drwxr-xr-x'])
  assert.ok(directory.size > 0, `an empty directory has size ${directory.size}`)
  assert.equal((await box.files.getInfo('info-root')).owner, 'root')
})

test('a link out of the sandbox leads nowhere', async () => {
  await box.commands.run('ln -s /proc/1/root/etc/shadow link1; ln -s ../../../../../../etc/hostname link2')
  const inside = (await box.commands.run('cat /etc/hostname || true')).stdout
  assert.equal(await box.files.read('link2').catch(() => inside), inside)
  await assert.rejects(box.files.read('link1'))
})

test('signed URLs work without any header', async () => {
  const secured = await sandbox({ secure: true })
  await secured.files.write('signed.txt', 'for all')
  const url = await secured.downloadUrl('signed.txt', { useSignature: true, useSignatureExpiration: 60_000 })
  const answer = await fetch(url)
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), 'for all')
  const spoiled = new URL(url)
  spoiled.searchParams.set('signature', 'v1_wrong')
  assert.ok((await fetch(spoiled)).status >= 400)
  const form = new FormData()
  form.append('file', new Blob(['sent']), 'upload.txt')
  const sent = await fetch(await secured.uploadUrl('upload.txt', { useSignature: true }), { method: 'POST', body: form })
  assert.equal(sent.status, 200)
  assert.equal(await secured.files.read('upload.txt'), 'sent')
})
