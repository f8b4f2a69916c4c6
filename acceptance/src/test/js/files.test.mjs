import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before, test } from 'node:test'
import { e2b } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

test('files.write and files.read', async () => {
  const info = await box.files.write('hello.txt', 'Hello, wörld')
  assert.equal(info.path, '/home/user/hello.txt')
  assert.equal(await box.files.read('hello.txt'), 'Hello, wörld')
  assert.equal((await box.commands.run('stat -c "%U %a" hello.txt')).stdout, 'user 644\n')
})

test('files.write makes parents and overwrites', async () => {
  await box.files.write('/home/user/a/b/c.txt', 'a longer first text')
  await box.files.write('/home/user/a/b/c.txt', 'short')
  assert.equal(await box.files.read('/home/user/a/b/c.txt'), 'short')
  assert.equal((await box.commands.run('stat -c "%U %a" a a/b')).stdout, 'user 755\nuser 755\n')
})

test('files.write as root', async () => {
  await box.files.write('/etc/cay-test', 'x', { user: 'root' })
  assert.equal((await box.commands.run('stat -c %U /etc/cay-test')).stdout, 'root\n')
})

test('an empty file is read as empty', async () => {
  await box.files.write('empty', '')
  assert.equal(await box.files.read('empty'), '')
})

test('ten megabytes go there and back', async () => {
  const bytes = randomBytes(10 * 1024 * 1024)
  await box.files.write('big.bin', new Blob([bytes]))
  const sum = createHash('sha256').update(bytes).digest('hex')
  assert.equal((await box.commands.run('sha256sum big.bin')).stdout.split(' ')[0], sum)
  const back = await box.files.read('big.bin', { format: 'bytes' })
  assert.equal(createHash('sha256').update(back).digest('hex'), sum)
})

test('several files in one call', async () => {
  const written = await box.files.write([
    { path: 'one.txt', data: '1' },
    { path: 'dir/two.txt', data: '2' },
  ])
  assert.deepEqual(written.map((f) => f.path), ['/home/user/one.txt', '/home/user/dir/two.txt'])
  assert.equal(await box.files.read('dir/two.txt'), '2')
})

test('reading what is not there', async () => {
  await assert.rejects(box.files.read('nothing-here'), (error) => error instanceof e2b.NotFoundError)
  await assert.rejects(box.files.read('/tmp'))
})

test('a link out of the sandbox leads nowhere', async () => {
  await box.commands.run('ln -s /proc/1/root/etc/shadow link1; ln -s ../../../../../../etc/hostname link2')
  const inside = (await box.commands.run('cat /etc/hostname || true')).stdout
  assert.equal(await box.files.read('link2').catch(() => inside), inside)
  await assert.rejects(box.files.read('link1'))
})

test('signed URLs work without any header', async () => {
  await box.files.write('signed.txt', 'for all')
  const url = await box.downloadUrl('signed.txt', { useSignatureExpiration: 60_000 })
  const answer = await fetch(url)
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), 'for all')
  const spoiled = new URL(url)
  spoiled.searchParams.set('signature', 'v1_wrong')
  assert.ok((await fetch(spoiled)).status >= 400)
  const form = new FormData()
  form.append('file', new Blob(['sent']), 'upload.txt')
  const sent = await fetch(await box.uploadUrl('upload.txt'), { method: 'POST', body: form })
  assert.equal(sent.status, 200)
  assert.equal(await box.files.read('upload.txt'), 'sent')
})
