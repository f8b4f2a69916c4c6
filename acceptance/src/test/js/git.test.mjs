// Git in one sandbox, against repositories that another one serves on a port.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before } from 'node:test'
import { test } from './cases.mjs'
import { e2b, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const NAME = 'robot'
const PASSWORD = 'p@ss/wörd 1'
const login = { username: NAME, password: PASSWORD }
const author = { authorName: 'Robot', authorEmail: 'robot@example.com' }

let box
let git
let host
before(async () => {
  box = await sandbox()
  git = box.git
  if (!git) return
  const server = await sandbox()
  host = server.getHost(8080)
  await server.files.write('git-server.py', readFileSync(new URL('git-server.py', import.meta.url), 'utf8'))
  for (const path of ['repositories/public.git', 'repositories/private/own.git']) {
    await server.git.init(path, { bare: true, initialBranch: 'main' })
    await server.git.setConfig('http.receivepack', 'true', { scope: 'local', path })
  }
  await server.commands.run(`exec python3 git-server.py ~/repositories '${NAME}:${PASSWORD}'`, { background: true, timeoutMs: 0 })
  await until('the server', async () => (await fetch(`https://${host}/public.git/HEAD`).catch(() => ({}))).status === 200)
  await seed()
})

/** The first commit of both repositories. */
async function seed() {
  await git.init('seed', { initialBranch: 'main' })
  await box.files.write('seed/README.md', '# seed\n')
  await git.add('seed')
  await git.commit('seed', 'first', author)
  for (const [name, path, credentials] of [['public', 'public.git', {}], ['private', 'private/own.git', login]]) {
    await git.remoteAdd('seed', name, `https://${host}/${path}`)
    await git.push('seed', { remote: name, branch: 'main', ...credentials })
  }
}

const url = (path) => `https://${host}/${path}`
const shell = async (command) => (await box.commands.run(command)).stdout.trim()

test('git.clone, from another sandbox by its port URL', { covers: ['Git.clone'] }, async () => {
  await git.clone(url('public.git'))
  assert.equal(await box.files.read('public/README.md'), '# seed\n')
  await git.clone(url('public.git'), { path: 'shallow', depth: 1, branch: 'main' })
  assert.equal(await shell('git -C shallow rev-parse --is-shallow-repository'), 'true')
})

test('git.clone of what needs a password, which is not kept', { covers: ['Git.clone'] }, async () => {
  const result = await git.clone(url('private/own.git'), { ...login, path: 'own' })
  assert.equal(result.exitCode, 0)
  assert.equal(await box.files.read('own/README.md'), '# seed\n')
  assert.doesNotMatch(await shell('cat own/.git/config'), /robot/)
  await git.clone(url('private/own.git'), { ...login, path: 'kept', dangerouslyStoreCredentials: true })
  assert.match(await shell('cat kept/.git/config'), /robot/)
})

test('git without the password, or a wrong one: GitAuthError', { covers: ['Git.clone'] }, async () => {
  await assert.rejects(git.clone(url('private/own.git'), { path: 'no' }), e2b.GitAuthError)
  await assert.rejects(git.clone(url('private/own.git'), { username: NAME, password: 'wrong', path: 'no' }), e2b.GitAuthError)
  await assert.rejects(git.clone(url('private/own.git'), { username: NAME, path: 'no' }), e2b.GitAuthError)
  await assert.rejects(git.clone(url('private/own.git'), { password: PASSWORD }), e2b.InvalidArgumentError)
  await assert.rejects(git.clone(url('no-such.git'), { path: 'no' }), e2b.CommandExitError)
})

test('git.init and git.status', { covers: ['Git.init', 'Git.status', 'Git.add', 'Git.commit'] }, async () => {
  await git.init('work', { initialBranch: 'main' })
  await box.files.write('work/a.txt', 'a\n')
  await box.files.write('work/b.txt', 'b\n')
  let status = await git.status('work')
  assert.deepEqual([status.currentBranch, status.untrackedCount, status.isClean], ['main', 2, false])
  await git.add('work', { files: ['a.txt'] })
  status = await git.status('work')
  assert.deepEqual([status.stagedCount, status.untrackedCount, status.hasStaged], [1, 1, true])
  await git.add('work')
  const committed = await git.commit('work', "first of 'work'", author)
  assert.match(committed.stdout, /2 files changed/)
  await git.commit('work', 'nothing', { ...author, allowEmpty: true })
  status = await git.status('work')
  assert.equal(status.isClean, true)
  await box.commands.run('cd work && git mv a.txt c.txt && rm b.txt')
  status = await git.status('work')
  assert.deepEqual(status.fileStatus.map((f) => [f.name, f.status, f.renamedFrom]), [['b.txt', 'deleted', undefined], ['c.txt', 'renamed', 'a.txt']])
  await box.commands.run('git -C work reset --hard')
})

test('git.commit without an author says so', { covers: ['Git.commit'] }, async () => {
  await git.init('nobody')
  await assert.rejects(git.commit('nobody', 'x', { allowEmpty: true }), (error) =>
    error instanceof e2b.CommandExitError && /tell me who you are/i.test(error.stderr))
})

test('git branches', { covers: ['Git.branches', 'Git.createBranch', 'Git.checkoutBranch', 'Git.deleteBranch'] }, async () => {
  await git.createBranch('work', 'topic')
  assert.deepEqual(await git.branches('work'), { branches: ['main', 'topic'], currentBranch: 'topic' })
  await git.commit('work', 'on topic', { ...author, allowEmpty: true })
  await git.checkoutBranch('work', 'main')
  await assert.rejects(git.deleteBranch('work', 'topic'), e2b.CommandExitError)
  await git.deleteBranch('work', 'topic', { force: true })
  assert.deepEqual(await git.branches('work'), { branches: ['main'], currentBranch: 'main' })
  await assert.rejects(git.checkoutBranch('work', 'no-such'), e2b.CommandExitError)
})

test('git.reset and git.restore', { covers: ['Git.reset', 'Git.restore'] }, async () => {
  await box.files.write('work/a.txt', 'changed\n')
  await git.restore('work', { paths: ['a.txt'] })
  assert.equal(await box.files.read('work/a.txt'), 'a\n')
  await box.files.write('work/a.txt', 'changed\n')
  await git.add('work')
  await git.restore('work', { paths: ['a.txt'], staged: true })
  assert.equal((await git.status('work')).stagedCount, 0)
  await git.add('work')
  await git.reset('work', { paths: ['a.txt'] })
  assert.equal((await git.status('work')).stagedCount, 0)
  await git.reset('work', { mode: 'hard', target: 'HEAD' })
  assert.equal((await git.status('work')).isClean, true)
  await assert.rejects(git.reset('work', { mode: 'no-such' }), e2b.InvalidArgumentError)
  await assert.rejects(git.restore('work', { paths: [] }), e2b.InvalidArgumentError)
})

test('git remotes', { covers: ['Git.remoteAdd', 'Git.remoteGet'] }, async () => {
  await git.remoteAdd('work', 'up', url('public.git'), { fetch: true })
  assert.equal(await git.remoteGet('work', 'up'), url('public.git'))
  assert.equal(await git.remoteGet('work', 'no-such'), undefined)
  await assert.rejects(git.remoteAdd('work', 'up', url('other.git')), e2b.CommandExitError)
  await git.remoteAdd('work', 'up', url('private/own.git'), { overwrite: true })
  assert.equal(await git.remoteGet('work', 'up'), url('private/own.git'))
  await assert.rejects(git.remoteAdd('work', '', ''), e2b.InvalidArgumentError)
})

test('git.push and git.pull, from one clone to another', { covers: ['Git.push', 'Git.pull'] }, async () => {
  for (const path of ['here', 'there']) await git.clone(url('private/own.git'), { ...login, path })
  await box.files.write('here/from-here.txt', 'x'.repeat(3_000_000))
  await git.add('here')
  await git.commit('here', 'from here', author)
  assert.equal((await git.status('here')).ahead, 1)
  await git.push('here', login)
  assert.doesNotMatch(await shell('cat here/.git/config'), /robot/)
  await git.pull('there', login)
  assert.equal((await box.files.read('there/from-here.txt')).length, 3_000_000)
  await git.createBranch('there', 'topic')
  await git.commit('there', 'on topic', { ...author, allowEmpty: true })
  await git.push('there', { remote: 'origin', branch: 'topic', ...login })
  const status = await git.status('there')
  assert.deepEqual([status.currentBranch, status.upstream, status.ahead, status.behind], ['topic', 'origin/topic', 0, 0])
})

test('git.push and git.pull without a password, or nowhere: GitAuthError, GitUpstreamError', { covers: ['Git.push', 'Git.pull'] }, async () => {
  await git.commit('here', 'more', { ...author, allowEmpty: true })
  await assert.rejects(git.push('here', { remote: 'origin', branch: 'main' }), e2b.GitAuthError)
  await assert.rejects(git.pull('here'), e2b.GitAuthError)
  await git.init('lonely', { initialBranch: 'main' })
  await git.commit('lonely', 'x', { ...author, allowEmpty: true })
  await git.remoteAdd('lonely', 'origin', url('public.git'))
  await assert.rejects(git.pull('lonely'), e2b.GitUpstreamError)
  await assert.rejects(git.push('lonely', { setUpstream: false }), e2b.GitUpstreamError)
})

test('git configuration', { covers: ['Git.setConfig', 'Git.getConfig', 'Git.configureUser'] }, async () => {
  assert.equal(await git.getConfig('pull.rebase'), undefined)
  await git.setConfig('pull.rebase', 'false')
  assert.equal(await git.getConfig('pull.rebase'), 'false')
  await git.setConfig('pull.rebase', 'true', { scope: 'local', path: 'work' })
  assert.equal(await git.getConfig('pull.rebase', { scope: 'local', path: 'work' }), 'true')
  await git.configureUser('Some One', 'some@example.com')
  assert.equal(await git.getConfig('user.name'), 'Some One')
  await git.commit('work', 'by me', { allowEmpty: true })
  assert.equal(await shell('git -C work log -1 --format=%an,%ae'), 'Some One,some@example.com')
  await assert.rejects(git.setConfig('a.b', 'c', { scope: 'local' }), e2b.InvalidArgumentError)
  await assert.rejects(git.setConfig('a.b', 'c', { scope: 'no-such' }), e2b.InvalidArgumentError)
})

test('git.dangerouslyAuthenticate makes all later calls know the password', { covers: ['Git.dangerouslyAuthenticate'] }, async () => {
  await git.dangerouslyAuthenticate({ ...login, host, protocol: 'https' })
  await git.clone(url('private/own.git'), { path: 'known' })
  assert.equal(await box.files.read('known/README.md'), '# seed\n')
  await assert.rejects(git.dangerouslyAuthenticate({ username: NAME }), e2b.InvalidArgumentError)
})
