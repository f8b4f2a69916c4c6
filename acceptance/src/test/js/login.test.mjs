// E2B's command line signs in by a browser: with a link of the operator's, and with an issuer of OpenID Connect.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startPlainBrowser } from './browser.mjs'
import { until } from './client.mjs'
import { startIssuer } from './issuer.mjs'

const { CAY_CLI, CAY_LINK, CAY_PORT, CAY_ISSUER_PORT, E2B_API_URL } = process.env
const CLI = join(CAY_CLI, 'node_modules/.bin/e2b')
const LIMIT = 60_000

let home
before(async () => {
  await startIssuer(Number(CAY_ISSUER_PORT), 'cay', 'ann@example.org')
  home = await mkdtemp(join(tmpdir(), 'cay-login-'))
  await mkdir(join(home, 'bin'))
  // What opens a browser on a desktop. This one only tells the address.
  await writeFile(join(home, 'bin/xdg-open'), `#!/bin/sh\necho "$1" > ${home}/opened.new\nmv ${home}/opened.new ${home}/opened\n`)
  await chmod(join(home, 'bin/xdg-open'), 0o755)
})
after(() => rm(home, { recursive: true, force: true }))

function environment() {
  const { E2B_API_KEY, ...rest } = process.env
  return { ...rest, HOME: home, PATH: `${home}/bin:${process.env.PATH}` }
}

/** Runs the command to its end. */
function e2b(...args) {
  return new Promise((resolve) => {
    const options = { env: environment(), timeout: LIMIT }
    execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, killed: error?.killed ?? false, output: stdout + stderr })
    }).stdin.end()
  })
}

/** Begins `e2b auth login`, and gives the address that it opens and what comes of it. */
async function login() {
  await rm(join(home, 'opened'), { force: true })
  const done = e2b('auth', 'login')
  const address = await until('the address', () => readFile(join(home, 'opened'), 'utf8').catch(() => undefined), LIMIT)
  const port = Number(new URL(new URL(address.trim()).searchParams.get('next')).port)
  return { address: address.trim(), port, done }
}

const config = async () => JSON.parse(await readFile(join(home, '.e2b/config.json'), 'utf8'))

/** Presses a button and waits until another page is there. */
async function press(page, selector) {
  await page.waitFor(`document.readyState === 'complete' && document.querySelector('${selector}')`)
  await page.value(`document.querySelector('${selector}').click()`).catch(() => {})
}

test('auth login by a link, then info, list, configure and logout', async () => {
  assert.match((await e2b('auth', 'info')).output, /Not logged in/)
  const { address, port, done } = await login()
  assert.ok(address.startsWith(`http://127.0.0.1:${CAY_PORT}/docs/api/cli?`), address)
  const browser = await startPlainBrowser([Number(CAY_PORT), port])
  let page = await browser.open(address)
  assert.match(await page.waitFor('document.body?.innerText'), /cay login/)
  page = await browser.open(CAY_LINK)
  await press(page, '#take')
  await page.waitFor("document.querySelector('#out')")
  page = await browser.open(address)
  await press(page, '#allow')
  const end = await page.waitFor("location.search.includes('state=success') && document.body.innerText")
  assert.match(end, /signed in as ann@example.org/)
  const { code, output } = await done
  assert.equal(code, 0, output)
  assert.match(output, /Logged in as .*ann@example.org/)
  assert.match((await e2b('auth', 'info')).output, /ann@example.org/)
  assert.equal((await e2b('sandbox', 'list')).code, 0)
  const before = await config()

  // A token that is over is renewed by the command itself.
  before.tokens.access_token = `${before.tokens.access_token.split('.')[0]}.${Buffer.from('{"exp":1}').toString('base64url')}.x`
  await writeFile(join(home, '.e2b/config.json'), JSON.stringify(before), { mode: 0o600 })
  await configure()
  const after = await config()
  assert.notEqual(after.tokens.refresh_token, before.tokens.refresh_token)
  assert.notEqual(after.projectApiKey, before.projectApiKey)
  assert.equal((await e2b('sandbox', 'list')).code, 0)

  assert.equal((await e2b('auth', 'logout')).code, 0)
  const revoked = await fetch(`${E2B_API_URL}/sandboxes`, { headers: { 'X-API-Key': after.projectApiKey } })
  assert.equal(revoked.status, 401)
  assert.match((await e2b('auth', 'info')).output, /Not logged in/)
  assert.match((await e2b('auth', 'configure')).output, /auth login/)
})

/** The command asks by a list in a terminal, where Enter takes the first. */
async function configure() {
  const inside = `${process.execPath} ${CLI} auth configure`
  const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', inside, '/dev/null'], { env: environment() })
  let shown = ''
  let pressed = false
  terminal.stdout.on('data', (data) => {
    shown += data
    if (!pressed && shown.includes('Select project')) {
      pressed = true
      terminal.stdin.write('\r')
    }
  })
  const code = await new Promise((resolve) => {
    const timer = setTimeout(() => terminal.kill('SIGKILL'), LIMIT)
    terminal.on('exit', (status) => (clearTimeout(timer), resolve(status)))
  })
  assert.equal(code, 0, shown)
  assert.match(shown, /selected/)
}

test('a person who does not allow it ends the wait of the command', async () => {
  const { address, port, done } = await login()
  const browser = await startPlainBrowser([Number(CAY_PORT), port, Number(CAY_ISSUER_PORT)])
  let page = await browser.open(address)
  // With the issuer, which signs in whoever comes.
  await press(page, '#issuer')
  await press(page, '#deny')
  await page.waitFor("location.search.includes('state=error')")
  const { code, killed, output } = await done
  assert.ok(!killed, output)
  assert.notEqual(code, 0, output)
  assert.match(output, /did not allow/)
})

test('auth login by an issuer of OpenID Connect', async () => {
  const { address, port, done } = await login()
  const browser = await startPlainBrowser([Number(CAY_PORT), port, Number(CAY_ISSUER_PORT)])
  const page = await browser.open(address)
  await press(page, '#issuer')
  await press(page, '#allow')
  await page.waitFor("location.search.includes('state=success')")
  const { code, output } = await done
  assert.equal(code, 0, output)
  assert.match(output, /Logged in as .*ann@example.org/)
})
