// Templates that users define with the client's builder.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test as plain } from 'node:test'
import { Sandbox, atLeast, deep, e2b, until } from './client.mjs'

const { Template, waitForFile, waitForPort, waitForProcess, waitForTimeout, waitForURL } = e2b
const test = (name, options, body) => plain(name, { skip: !Template || options?.skip }, body ?? options)
const deepTest = deep(test)

const context = mkdtempSync(join(tmpdir(), 'cay-context-'))
const names = []
const boxes = []
after(async () => {
  await Promise.all(boxes.map((one) => one.kill().catch(() => {})))
  await Promise.all(names.map(remove))
  rmSync(context, { recursive: true })
})

function file(path, content) {
  mkdirSync(join(context, path, '..'), { recursive: true })
  writeFileSync(join(context, path), content)
}

const unique = (name) => {
  const whole = `${name}-${randomBytes(4).toString('hex')}`
  names.push(whole)
  return whole
}

const api = (method, path, body) =>
  fetch((process.env.E2B_API_URL ?? `https://api.${process.env.E2B_DOMAIN}`) + path, {
    method,
    headers: { 'X-API-Key': process.env.E2B_API_KEY, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })

const remove = (name) => api('DELETE', `/templates/${name}`).catch(() => {})

const build = (template, name, options) =>
  atLeast(2, 11) ? Template.build(template, name, options) : Template.build(template, { alias: name, ...options })

async function boxOf(name) {
  const one = await Sandbox.create(name, { timeoutMs: 120_000 })
  boxes.push(one)
  return one
}

const said = async (one, command, options) => (await one.commands.run(command, options)).stdout.trim()

file('app/main.py', 'print("main")\n')
file('app/lib/one.txt', 'one')
file('app/lib/two.txt', 'two')
file('single.txt', 'single')
file('.dockerignore', '**/ignored.txt\n')
file('app/ignored.txt', 'no')
symlinkSync('main.py', join(context, 'app/link.py'))

/** Programs that fetch from elsewhere, in place of which one stands that says what it was asked for. */
const FETCHERS = ['apt-get', 'pip', 'npm', 'bun']
const standIns = FETCHERS.map(
  (program) => `printf '#!/bin/sh\\necho "${program} $*" >> /srv/fetched\\n' > /usr/local/sbin/${program}; chmod 755 /usr/local/sbin/${program}`,
)

// Clients of before miscount the bytes they send now and then.
test('every method of the builder builds, and sandboxes have what it says', { skip: !atLeast(2, 6) }, async () => {
  const name = unique('all')
  let template = Template({ fileContextPath: context })
    .fromBaseImage()
    .setEnvs({ GREETING: 'hello', PATH: '/opt/tools:$PATH' })
    .setEnvs({ WHOLE: '$GREETING ${NOBODY}world' })
    .setUser('root')
    .runCmd(['mkdir -p /srv/repo /opt/tools', 'touch /srv/fetched; chmod 666 /srv/fetched', ...standIns])
    .runCmd('git init -q /srv/repo && cd /srv/repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && chown -R user /srv/repo')
    .setUser('user')
    .setWorkdir('/home/user/work')
    .runCmd('echo "$WHOLE" > greeting; echo "$PATH" > path; whoami > who; pwd > where')
    .runCmd('whoami > /root/as-root', { user: 'root' })
    .copy('single.txt', 'copied.txt')
    .copy('app', '/srv/app/', { user: 'root', mode: 0o700 })
    .copyItems([{ src: 'app/lib/*.txt', dest: 'lib/' }])
    .makeDir('made/deep', { mode: 0o750 })
    .makeSymlink('copied.txt', 'linked.txt')
    .rename('copied.txt', 'renamed.txt')
    .runCmd('touch gone')
    .remove('gone')
    .pipInstall('requests')
    .npmInstall('axios', { g: true })
    .aptInstall(['curl', 'jq'])
    .gitClone('file:///srv/repo', 'clone')
  if (template.bunInstall) template = template.bunInstall('left-pad', { g: true })
  await build(template.setStartCmd('cd /tmp && python3 -m http.server 8123', waitForPort(8123)), name, {
    cpuCount: 1,
    memoryMB: 256,
  })

  const box = await boxOf(name)
  assert.equal(await said(box, 'curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:8123/'), '200')
  assert.equal(await said(box, 'cat greeting'), 'hello world')
  assert.match(await said(box, 'cat path'), /^\/opt\/tools:.*\/usr\/bin/)
  assert.equal(await said(box, 'cat who where; pwd; whoami'), 'user\n/home/user/work\n/home/user/work\nuser')
  assert.equal(await said(box, 'cat /root/as-root', { user: 'root' }), 'root')
  assert.equal(await said(box, 'echo "[$GREETING]"'), '[]', 'variables of a build are not those of its sandboxes')
  assert.equal(await said(box, 'cat renamed.txt; readlink linked.txt; ls copied.txt gone 2>&1 | grep -c "No such"'), 'singlecopied.txt\n2')
  assert.equal(await said(box, 'stat -c "%U %a" made/deep renamed.txt; ls lib'), 'user 750\nuser 644\none.txt\ntwo.txt')
  assert.equal(
    await said(box, 'stat -c "%U %a" /srv/app/main.py; readlink /srv/app/link.py; cat /srv/app/lib/two.txt; ls /srv/app', { user: 'root' }),
    'root 700\nmain.py\ntwolib\nlink.py\nmain.py',
  )
  const fetched = await said(box, 'cat /srv/fetched')
  assert.match(fetched, /pip install.* requests/)
  assert.match(fetched, /npm install -g axios/)
  assert.match(fetched, /apt-get .*curl jq/)
  assert.equal(await said(box, 'git -C clone log --format=%s'), 'first')
  const info = await Sandbox.getInfo(box.sandboxId)
  if (info.cpuCount) assert.deepEqual([info.cpuCount, info.memoryMB], [1, 256])
  const started = (await box.commands.list()).filter((each) => each.args.join(' ').includes('http.server'))
  assert.equal(started.length, 1, 'the start command is among the processes')
})

deepTest('what was built before is not built again, unless somebody asks for it', async () => {
  const name = unique('cache')
  const steps = () => Template().fromTemplate('base').runCmd('date +%s%N > /home/user/when')
  await build(steps(), name)
  const first = await said(await boxOf(name), 'cat when')
  const lines = []
  await build(steps(), name, { onBuildLogs: (line) => lines.push(line.message) })
  assert.ok(lines.some((line) => line.includes('CACHED')), lines.join('\n'))
  assert.equal(await said(await boxOf(name), 'cat when'), first)
  await build(steps(), name, { skipCache: true })
  const second = await said(await boxOf(name), 'cat when')
  assert.notEqual(second, first)
  await build(steps(), name)
  assert.equal(await said(await boxOf(name), 'cat when'), second, 'the newest result is the one that is kept')
  await build(Template().fromTemplate('base').skipCache().runCmd('date +%s%N > /home/user/when'), name)
  assert.notEqual(await said(await boxOf(name), 'cat when'), second)
})

deepTest('a template built on another one has its files, its user and its start command', async () => {
  const below = unique('below')
  const above = unique('above')
  await build(
    Template().fromTemplate('base').setWorkdir('/srv').setUser('root').runCmd('echo below > mark')
      .setStartCmd('echo started > /tmp/started; sleep infinity', waitForFile('/tmp/started')),
    below,
  )
  await build(Template().fromTemplate(below).runCmd('cat mark > copy; rm mark'), above)
  const box = await boxOf(above)
  assert.equal(await said(box, 'cat /tmp/started copy; pwd; whoami; test -e mark || echo gone'), 'started\nbelow\n/srv\nroot\ngone')
})

test('a failing step tells its number, its output and where it was written', async () => {
  const name = unique('bad')
  const lines = []
  const failing = build(
    Template().fromTemplate('base').runCmd('echo fine').runCmd('echo what went wrong >&2; exit 3'),
    name,
    { onBuildLogs: (line) => lines.push(line.message) },
  )
  await assert.rejects(failing, (error) => {
    assert.match(error.message, /exit status 3/)
    assert.match(error.message, /what went wrong/)
    assert.match(error.stack, /templates\.test\.mjs/)
    return true
  })
  assert.ok(lines.some((line) => line.includes('what went wrong')))
  await assert.rejects(Sandbox.create(name), /what went wrong/)
  await build(Template().fromTemplate('base').runCmd('echo fine'), name)
  assert.equal(await said(await boxOf(name), 'echo runs'), 'runs')
})

test('bad bases and bad ready commands are told', async () => {
  await assert.rejects(build(Template().fromTemplate('nosuchtemplate').runCmd('true'), unique('nobase')), /nosuchtemplate/)
  await assert.rejects(
    build(Template().fromTemplate('base').setStartCmd('exit 4', 'false'), unique('nostart')),
    /start command ended with exit status 4/,
  )
})

test('ready commands of every kind are waited for', { skip: !atLeast(2, 6) }, async () => {
  const start = 'sleep 1; touch /tmp/there; exec -a waited python3 -m http.server 8124'
  for (const ready of [waitForURL('http://127.0.0.1:8124/'), waitForProcess('python3'), waitForTimeout(1500)]) {
    const name = unique('ready')
    await build(Template().fromTemplate('base').setStartCmd(start, ready), name)
    assert.equal(await said(await boxOf(name), 'ls /tmp/there'), '/tmp/there')
  }
})

test('a build in the background is followed, and its tags are moved', { skip: !atLeast(2, 14) }, async () => {
  const name = unique('tagged')
  const first = await Template.buildInBackground(Template().fromTemplate('base').runCmd('echo 1 > n'), `${name}:v1`, { tags: ['stable'] })
  const over = (data) => until('the build', async () => {
    const { status } = await Template.getBuildStatus(data)
    return status !== 'building' && status !== 'waiting' && status
  })
  assert.equal(await over(first), 'ready')
  assert.deepEqual((await Template.getTags(name)).map((each) => each.tag).sort(), ['stable', 'v1'])
  assert.equal(await Template.exists(name), true)
  assert.equal(await Template.exists(`${name}-no`), false)
  await assert.rejects(Sandbox.create(name), /tag|404/, 'no build has the tag default')
  const second = await Template.build(Template().fromTemplate('base').runCmd('echo 2 > n'), `${name}:v2`)
  assert.equal(await said(await boxOf(`${name}:v1`), 'cat n'), '1')
  assert.equal(await said(await boxOf(`${name}:v2`), 'cat n'), '2')
  const moved = await Template.assignTags(`${name}:v2`, ['stable', 'default'])
  assert.equal(moved.buildId, second.buildId)
  assert.equal(await said(await boxOf(`${name}:stable`), 'cat n'), '2')
  assert.equal(await said(await boxOf(name), 'cat n'), '2')
  await Template.removeTags(name, 'stable')
  await assert.rejects(Sandbox.create(`${name}:stable`), /tag|404/)
  await assert.rejects(Template.removeTags(name, 'default'), /default/)
})

deepTest('sandboxes of a started template differ in name, host name and random values', async () => {
  const name = unique('many')
  await build(
    Template().fromTemplate('base').setStartCmd('python3 -m http.server 8125', waitForPort(8125)),
    name,
    { memoryMB: 256 },
  )
  const many = await Promise.all(Array.from({ length: 8 }, () => boxOf(name)))
  const told = await Promise.all(
    many.map((one) => said(one, 'hostname; head -c 16 /dev/urandom | base64; curl -s -o /dev/null -w "%{http_code}" localhost:8125')),
  )
  const parts = told.map((text) => text.split('\n'))
  assert.deepEqual(parts.map(([, , status]) => status), many.map(() => '200'))
  assert.deepEqual(parts.map(([host]) => host), many.map((one) => one.sandboxId))
  assert.equal(new Set(parts.map(([, random]) => random)).size, many.length)
})
