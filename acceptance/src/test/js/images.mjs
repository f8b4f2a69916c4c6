// Templates from images of a registry: pushes two small images, builds from them and tells what sandboxes of them have.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Sandbox, e2b } from './client.mjs'

const { Template, waitForFile } = e2b
const { REGISTRY, REGISTRY_USER: username, REGISTRY_PASSWORD: password } = process.env
const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
const PROGRAMS = 'sh bash cat ls id mkdir chown chmod tar mktemp rm mv dirname basename stat sleep touch head env'.split(' ')

/** A directory with some programs of this host and all they need. */
function programs(directory) {
  mkdirSync(join(directory, 'bin'), { recursive: true })
  mkdirSync(join(directory, 'tmp'))
  chmodSync(join(directory, 'tmp'), 0o1777)
  mkdirSync(join(directory, 'etc'))
  const libraries = new Set()
  for (const name of PROGRAMS) {
    const found = realpathSync(execFileSync('which', [name], { encoding: 'utf8' }).trim())
    copyFileSync(found, join(directory, 'bin', name))
    for (const [, library] of execFileSync('ldd', [found], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)) libraries.add(library)
  }
  for (const library of libraries) {
    mkdirSync(join(directory, dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), join(directory, library))
  }
}

const digest = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

async function send(method, path, body, type) {
  const answer = await fetch(path.startsWith('http') ? path : `http://${REGISTRY}${path}`, {
    method,
    headers: { authorization, ...(type && { 'content-type': type }) },
    body,
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
  return answer
}

async function blob(name, bytes) {
  const place = (await send('POST', `/v2/${name}/blobs/uploads/`)).headers.get('location')
  await send('PUT', `${place}${place.includes('?') ? '&' : '?'}digest=${digest(bytes)}`, bytes, 'application/octet-stream')
  return { digest: digest(bytes), size: bytes.length }
}

/** Pushes directories as the layers of an image, the lowest first. */
async function push(name, directories, config) {
  const tars = directories.map((from) => execFileSync('tar', ['-C', from, '--numeric-owner', '--owner=0', '--group=0', '-cf', '-', '.'], { maxBuffer: 1 << 28 }))
  const layers = []
  for (const tar of tars) layers.push({ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', ...(await blob(name, gzipSync(tar))) })
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch]
  const about = Buffer.from(JSON.stringify({ os: 'linux', architecture, config, rootfs: { type: 'layers', diff_ids: tars.map(digest) } }))
  const manifest = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...(await blob(name, about)) }, layers }
  await send('PUT', `/v2/${name}/manifests/1`, JSON.stringify(manifest), manifest.mediaType)
}

const work = mkdtempSync(join(tmpdir(), 'cay-images-'))
try {
  const low = join(work, 'low')
  programs(low)
  writeFileSync(join(low, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/srv:/bin/sh\n')
  writeFileSync(join(low, 'etc/group'), 'root:x:0:\napp:x:1000:\n')
  writeFileSync(join(low, 'gone'), 'x')
  const high = join(work, 'high')
  mkdirSync(join(high, 'srv'), { recursive: true })
  writeFileSync(join(high, '.wh.gone'), '')
  writeFileSync(join(high, 'srv/here'), 'from the image')
  symlinkSync('/srv/here', join(high, 'srv/link'))
  await push('tests/small', [low, high], { Env: ['COLOUR=blue'], User: 'app', WorkingDir: '/srv' })

  const template = (login) => Template().fromImage(`${REGISTRY}/tests/small:1`, login)
  const said = []
  await Template.build(
    template({ username, password })
      .runCmd('echo "$COLOUR $(id -un) $(id -u)" > /home/user/told')
      .setStartCmd('touch /tmp/started; sleep 1000', waitForFile('/tmp/started')),
    'from-image',
    { memoryMB: 256, onBuildLogs: (line) => said.push(line.message) },
  )
  assert.ok(said.some((line) => /lacks .*curl/.test(line)), said.join('\n'))
  const box = await Sandbox.create('from-image', { timeoutMs: 60_000 })
  const run = async (command) => (await box.commands.run(command)).stdout
  assert.equal(await run('cat told; cat /srv/link; ls /tmp/started; ls -d /gone || true'), 'blue user 1001\nfrom the image/tmp/started\n')
  assert.equal(await run('id -un; echo "[$COLOUR]"'), 'user\n[]\n')
  await box.kill()
  await assert.rejects(Template.build(template({ username, password: 'wrong' }), 'refused'), /credentials|401|log in|password/i)
  await assert.rejects(Template.build(template(), 'refused'), /credentials|401|log in|password/i)
  await assert.rejects(Template.build(Template().fromImage(`${REGISTRY}/tests/none:1`, { username, password }), 'refused'), /no image/)
  await assert.rejects(Template.build(Template().fromImage('127.0.0.1:9/tests/small:1'), 'refused'), /images\.registries/)

  // An image of nothing but a file: no shell, no user, no directory but the root.
  const bare = join(work, 'bare')
  mkdirSync(bare)
  writeFileSync(join(bare, 'hello'), 'from nothing')
  await push('tests/bare', [bare], {})
  await Template.build(Template().fromImage(`${REGISTRY}/tests/bare:1`, { username, password }), 'from-nothing', { memoryMB: 256 })
  const nothing = await Sandbox.create('from-nothing', { timeoutMs: 60_000 })
  assert.equal(await nothing.files.read('/hello'), 'from nothing')
  await nothing.files.write('/home/user/written', 'x')
  await nothing.kill()
  console.log('all good')
} finally {
  rmSync(work, { recursive: true })
}
