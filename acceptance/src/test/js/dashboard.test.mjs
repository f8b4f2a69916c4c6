// The dashboard, as people use it with a browser, and as pages of sandboxes attack it.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Sandbox, until } from './client.mjs'
import { api, directory, done, HOSTILE, LIMIT, look, open, row, screen, shows, signedIn } from './dashboard.mjs'

const { CAY_DOMAIN, CAY_LINK, CAY_FOREIGN_KEY, E2B_API_KEY, E2B_API_URL } = process.env
const MOST_BYTES = 150_000

test('the first page is small, and has strict headers', async () => {
  const index = await fetch(E2B_API_URL + '/dashboard/sandboxes/any')
  const policy = index.headers.get('Content-Security-Policy')
  assert.match(policy, /default-src 'none'; script-src 'self';/)
  assert.match(policy, /frame-ancestors 'none'/)
  const html = await index.text()
  assert.doesNotMatch(html, /<script(?![^>]* src=)/)
  const files = [...html.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)].map((found) => found[1])
  assert.ok(files.length >= 2, html)
  let bytes = html.length
  for (const file of files) {
    const answer = await fetch(E2B_API_URL + file, { headers: { 'Accept-Encoding': 'gzip' } })
    assert.match(answer.headers.get('Cache-Control'), /immutable/)
    bytes += Number(answer.headers.get('Content-Length'))
  }
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
})

test('a key signs in; the list follows, filters and acts on many', async () => {
  const page = await open()
  await page.goto(E2B_API_URL + '/dashboard')
  await page.fill('input[name=key]', 'e2b_' + '0'.repeat(40))
  await page.click('.sign-in button.primary')
  await shows(page.locator('.failed'), 'no API key of this server')
  await page.fill('input[name=key]', E2B_API_KEY)
  await page.click('.sign-in button.primary')
  await page.waitForSelector('#create')
  const sandboxes = await Promise.all(
    [{ user: 'ann' }, { user: 'bob', note: HOSTILE }].map((metadata) => Sandbox.create({ metadata, timeoutMs: 600_000 })),
  )
  for (const one of sandboxes) await page.waitForSelector(row(one))
  assert.equal(await page.locator('.table img').count(), 0)
  assert.ok((await page.locator(row(sandboxes[1])).innerText()).includes('<img src=x'))
  await page.fill('input[type=search]', 'user=ann')
  await page.waitForSelector(row(sandboxes[1]), { state: 'detached' })
  assert.match(page.url(), /q=user%3Dann/)
  await page.reload()
  await page.waitForSelector(row(sandboxes[0]))
  assert.equal(await page.locator('.tr[data-id]').count(), 1)
  await page.keyboard.press('/')
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
  for (const one of sandboxes) await page.check(`${row(one)} input`)
  await page.click('.bulk >> text=Pause')
  for (const one of sandboxes) await page.waitForSelector(`${row(one)} .state.paused`)
  for (const one of sandboxes) await page.check(`${row(one)} input`)
  await page.click('.bulk >> text=Kill')
  await page.click('dialog button.danger')
  for (const one of sandboxes) await page.waitForSelector(row(one), { state: 'detached' })
  await done(page)
})

test('a sandbox is created with variables, and its terminal outlives the page', async () => {
  const page = await signedIn()
  await page.keyboard.press('c')
  await page.fill('textarea[name=envVars]', 'GREETING=good morning')
  await page.fill('textarea[name=metadata]', 'task=terminal')
  await page.click('dialog button.primary')
  await page.waitForURL(/\/sandboxes\/i/)
  await page.waitForSelector('.xterm-screen')
  await shows(screen(page), '$')
  await page.keyboard.type('echo "$GREETING" $((6*7)) && tty && stty size\n')
  await shows(screen(page), 'good morning 42')
  await shows(screen(page), '/dev/pts/')
  // Another size of the window is another size of the terminal.
  const [, rows] = await until('the size', async () => (await screen(page).innerText()).match(/^(\d+) \d+$/m), LIMIT)
  await page.setViewportSize({ width: 1000, height: 1100 })
  await until('another size', async () => {
    await page.keyboard.type('clear; stty size\n')
    await page.waitForTimeout(500)
    const found = (await screen(page).innerText()).match(/^(\d+) \d+$/m)
    return found && Number(found[1]) > Number(rows)
  }, LIMIT)
  await page.keyboard.type('echo marker-$((40+2))\n')
  await shows(screen(page), 'marker-42')
  await page.reload()
  await shows(screen(page), 'marker-42')
  await page.locator('.xterm-screen').click()
  await page.keyboard.type('echo back-$((1+1))\n')
  await shows(screen(page), 'back-2')
  await page.click('#new-terminal')
  await until('an empty terminal', async () => !(await screen(page).innerText()).includes('back-2'), LIMIT)
  await shows(screen(page), '$')
  await page.keyboard.type('echo second-$((2+2))\n')
  await shows(screen(page), 'second-4')
  // A third one beside a second that is new itself; each keeps what it showed.
  await page.click('#new-terminal')
  await until('three terminals', async () => (await page.locator('.pick').count()) === 3, LIMIT)
  await until('an empty terminal', async () => !(await screen(page).innerText()).includes('second-4'), LIMIT)
  await page.locator('.pick').nth(1).locator('button').first().click()
  await shows(screen(page), 'second-4')
  await page.locator('.pick').nth(1).locator('[aria-label^="End terminal"]').click()
  await until('two terminals', async () => (await page.locator('.pick').count()) === 2, LIMIT)
  const id = page.url().match(/sandboxes\/(\w+)/)[1]
  await api('DELETE', '/sandboxes/' + id)
  await page.waitForSelector('.page .state.killed')
  await done(page)
})

test('files, processes, ports, logs, metrics, events and snapshots of one sandbox', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 900_000, metadata: { task: 'parts' } })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/files`)
  const tab = (name) => page.click(`.tabs a[href$="/${name}"]`)

  await page.waitForSelector('[data-id=".bashrc"]')
  const upload = join(directory, 'notes.txt')
  await writeFile(upload, 'first line\n')
  await page.setInputFiles('input[type=file]', upload)
  await page.click('[data-id="notes.txt"] button.link')
  await page.fill('.editor', 'changed here\n')
  await page.click('dialog button.primary')
  await until('the change', async () => (await sandbox.files.read('/home/user/notes.txt')) === 'changed here\n')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[aria-label="Download notes.txt"]')])
  assert.equal(await readFile(await download.path(), 'utf8'), 'changed here\n')
  // What the sandbox makes appears, as text.
  await sandbox.files.write(`/home/user/${HOSTILE.replaceAll('/', '')}`, 'x')
  await shows(page.locator('.files'), '<img src=x')
  assert.equal(await page.locator('.files img').count(), 0)
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['by drop'], 'dropped.txt'))
    return data
  })
  await page.dispatchEvent('.files', 'drop', { dataTransfer: dropped })
  await page.waitForSelector('[data-id="dropped.txt"]')
  assert.equal(await sandbox.files.read('/home/user/dropped.txt'), 'by drop')

  await tab('processes')
  await page.fill('input[name=command]', `printf '\\033]0;title\\007\\033[31mred\\033[0m %s\\n' '${HOSTILE}'; sleep 600`)
  await page.keyboard.press('Enter')
  await shows(page.locator('.output'), 'red <img src=x')
  assert.equal(await page.locator('.output img').count(), 0)
  await page.locator('tr', { hasText: 'sleep 600' }).locator('button.danger').click()
  await shows(page.locator('.output'), '[')
  await until('its end', async () => !(await sandbox.commands.list()).some(({ args }) => args.join(' ').includes('sleep 600')))

  await sandbox.commands.run('python3 -m http.server 8000', { background: true })
  await tab('ports')
  await shows(page.locator('main'), `8000-${sandbox.sandboxId}`)
  // Nothing that Cay itself has in every sandbox.
  assert.equal(await page.locator('tbody tr').count(), 1)

  await sandbox.commands.run(`echo '${HOSTILE}'; printf '\\033[2Jcleared\\n'`)
  await tab('logs')
  await shows(page.locator('main'), 'Sandbox created')
  await shows(page.locator('.log'), 'http.server 8000')
  // Looking at the page leaves nothing in the log.
  assert.doesNotMatch(await page.locator('.log').innerText(), /proc\/net/)
  const following = () => page.getAttribute('#follow', 'aria-pressed')
  assert.equal(await following(), 'true')
  await page.click('#follow')
  assert.equal(await following(), 'false')
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click('text=Download')])
  const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\n').map((line) => JSON.parse(line))
  assert.equal(lines[0].message, 'Sandbox created')
  assert.ok(lines.some(({ fields }) => fields.command?.includes('http.server 8000')))
  await page.fill('.strip input[type=search]', 'nothing has this in it')
  await shows(page.locator('main'), 'No lines match')
  assert.equal(await page.locator('.log img').count(), 0)

  await tab('metrics')
  await page.waitForSelector('.chart canvas')
  const charts = (await page.locator('.chart figcaption').allInnerTexts()).map((text) => text.split(',')[0])
  assert.deepEqual(charts, ['CPU', 'Memory', 'Disk', 'Network'])
  await until('a chart that is drawn', () => page.evaluate(() => {
    const canvas = document.querySelector('.chart canvas')
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0)
  }), LIMIT)

  await tab('events')
  await shows(page.locator('main'), 'created')

  await tab('snapshots')
  await page.fill('input[name=name]', 'dashboard-test')
  await page.click('text=Take a snapshot')
  await shows(page.locator('.tree'), 'dashboard-test')
  await page.click('#fork')
  await until('the copy', async () => /sandboxes\/i/.test(page.url()) && !page.url().includes(sandbox.sandboxId), 2 * LIMIT)
  const copy = await Sandbox.connect(page.url().match(/sandboxes\/(\w+)/)[1])
  assert.equal(await copy.files.read('/home/user/dropped.txt'), 'by drop')
  await copy.kill()
  await sandbox.kill()
  await done(page)
})

test('a reader sees lists and opens nothing, another team sees nothing', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000 })
  const { body } = await api('POST', '/api-keys', { name: 'reader', scope: 'read' })
  const reader = await signedIn(body.key)
  await reader.waitForSelector(row(sandbox))
  assert.equal(await reader.locator('#create').count(), 0)
  assert.equal(await reader.locator('[aria-label^="Kill"]').count(), 0)
  await reader.click(`${row(sandbox)} .id a`)
  await reader.waitForSelector('.tabs')
  assert.equal(await reader.locator('.tabs >> text=Terminal').count(), 0)
  await shows(reader.locator('main'), 'Sandbox created')
  // The server refuses what the page does not offer.
  const refused = await reader.evaluate(async (id) => {
    const { token } = await (await fetch('/dashboard/session')).json()
    const headers = { 'X-Cay-Dashboard': token }
    const kill = await fetch('/dashboard/api/sandboxes/' + id, { method: 'DELETE', headers })
    const list = await fetch('/dashboard/api/process.Process/List', {
      method: 'POST',
      headers: { ...headers, 'E2b-Sandbox-Id': id, 'E2b-Sandbox-Port': '49983', 'Content-Type': 'application/json' },
      body: '{}',
    })
    return [kill.status, list.status]
  }, sandbox.sandboxId)
  assert.deepEqual(refused, [403, 404])

  const other = await signedIn(CAY_FOREIGN_KEY)
  await shows(other.locator('main'), 'No sandboxes yet')
  await other.goto(`${E2B_API_URL}/dashboard/inspect/sandbox/${sandbox.sandboxId}`)
  await shows(other.locator('main'), "doesn't exist")

  // A session that is over leads to the sign-in, and back to the same page.
  await api('DELETE', '/api-keys/' + body.id)
  await reader.waitForSelector('.sign-in')
  const address = reader.url()
  await reader.fill('input[name=key]', E2B_API_KEY)
  await reader.click('.sign-in button.primary')
  await reader.waitForSelector('.tabs')
  assert.equal(reader.url(), address)
  await reader.click('#sign-out')
  await reader.waitForSelector('.sign-in')
  await sandbox.kill()
  await done(reader)
  await done(other)
})

test('a key is made, shown once, and revoked', async () => {
  const page = await signedIn(E2B_API_KEY, '/keys')
  await page.click('#create')
  await page.fill('input[name=name]', HOSTILE)
  await page.selectOption('select[name=scope]', 'read')
  await page.click('dialog button.primary')
  const key = (await page.locator('#made').innerText()).trim()
  assert.equal((await api('GET', '/v2/sandboxes', undefined, key)).status, 200)
  await page.click('dialog [aria-label=Close]')
  const line = page.locator('tbody tr', { hasText: '<img src=x' })
  await line.waitFor()
  assert.ok(!(await page.locator('main').innerText()).includes(key))
  // What is wrong with a field is said at that field.
  await line.locator('[aria-label^="Limits of"]').click()
  await page.fill('dialog input[name=sandboxes]', '0')
  await page.click('dialog button.primary')
  await shows(page.locator('dialog .problem'), 'Sandboxes that run must be at least 1')
  assert.equal(await page.getAttribute('dialog input[name=sandboxes]', 'aria-invalid'), 'true')
  await page.fill('dialog input[name=sandboxes]', '3')
  await page.click('dialog button.primary')
  await page.waitForSelector('dialog', { state: 'detached' })
  const id = await line.getAttribute('data-id')
  assert.equal((await api('GET', `/api-keys/${id}/limits`)).body.limits.sandboxes, 3)
  // Of several keys, those that match the search are chosen.
  await page.fill('input[type=search]', 'onerror')
  await page.check('[aria-label="All that match"]')
  await page.click('.bulk button.danger')
  await page.click('dialog button.danger')
  await line.waitFor({ state: 'detached' })
  await shows(page.locator('main'), 'Nothing matches')
  await page.fill('input[type=search]', '')
  await page.waitForSelector('tbody tr')
  await page.click('nav >> text=Limits')
  await shows(page.locator('tr[data-id=sandboxes]'), 'no limit')
  assert.equal((await api('GET', '/v2/sandboxes', undefined, key)).status, 401)
  await page.goto(E2B_API_URL + '/dashboard/audit')
  await shows(page.locator('main'), 'key')
  await done(page)
})

test('the list shows what matters of each sandbox, and acts on one from its row', async (t) => {
  const volume = (await api('POST', '/volumes', { name: 'shelf', sizeMB: 64 })).body
  const { body: key } = await api('POST', '/api-keys', { name: 'night jobs', scope: 'sandboxes' })
  const { body } = await api('POST', '/v2/sandboxes', {
    templateID: 'base', timeout: 600, secure: true, autoPause: true, metadata: { z: '1', a: '2' }, volumeMounts: [{ name: 'shelf', path: '/data' }],
  }, key.key)
  const one = { sandboxId: body.sandboxID }
  t.after(() => api('DELETE', '/sandboxes/' + body.sandboxID))
  const page = await signedIn(E2B_API_KEY, '', { viewport: { width: 1600, height: 900 } })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await shows(page.locator(row(one)), 'night jobs')
  await shows(page.locator(row(one)), 'shelf')
  await page.waitForSelector(`${row(one)} [title="Then it is paused"]`)
  assert.match(await page.locator(row(one)).innerText(), /a\s*2[^]*z\s*1/)
  await page.fill('input[type=search]', 'night')
  assert.equal(await page.locator('.tr[data-id]').count(), 1)
  await page.click(`${row(one)} [aria-label^="Copy"]`)
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), body.sandboxID)
  await page.click(`${row(one)} [aria-label^="1 hour from now"]`)
  await until('more time', async () => Date.parse((await api('GET', '/sandboxes/' + body.sandboxID)).body.endAt) > Date.now() + 3_000_000, LIMIT)
  await page.click(`${row(one)} .id a`)
  for (const text of ['Pauses in', 'Created with key\nnight jobs', 'shelf at /data']) await shows(page.locator('.facts'), text)
  assert.match(await page.title(), new RegExp(`^${body.sandboxID} · Sandboxes · Cay$`))
  await api('DELETE', '/sandboxes/' + body.sandboxID)
  await api('DELETE', '/api-keys/' + key.id)
  await api('DELETE', '/volumes/' + volume.volumeID)
  await done(page)
})

test('a sandbox whose page breaks leaves the list as it is', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000 })
  const page = await signedIn()
  await page.waitForSelector(row(sandbox))
  await page.route('**/dashboard/api/sandboxes/' + sandbox.sandboxId, (route) => route.fulfill({ contentType: 'application/json', body: '{}' }))
  await page.click(`${row(sandbox)} .id a`)
  await shows(page.locator('main'), 'This cannot be shown')
  await page.click('nav >> text=Sandboxes')
  await page.waitForSelector(row(sandbox))
  // Nor does a refusal.
  await page.route('**/dashboard/api/sandboxes/' + sandbox.sandboxId, (route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{"message": "out of order"}' }))
  await page.click(`${row(sandbox)} .id a`)
  await shows(page.locator('main'), 'out of order')
  await page.goBack()
  await page.waitForSelector(row(sandbox))
  await sandbox.kill()
  await done(page)
})

test('a page that nobody sees leaves its connections, and comes back to what was written', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000 })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/terminal`)
  await shows(screen(page), '$')
  await page.keyboard.type('sleep 30; echo away-$((40+2))\n')
  const left = []
  page.on('requestfailed', (request) => left.push(new URL(request.url()).pathname))
  const hide = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  await hide(true)
  for (const path of ['/v2/sandboxes/live', '/process.Process/Start']) await until(path + ' left', () => left.some((one) => one.endsWith(path)), LIMIT)
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  assert.doesNotMatch(await screen(page).innerText(), /away-42/)
  await hide(false)
  await shows(screen(page), 'away-42')
  await page.waitForSelector('.page .state.running')
  await sandbox.kill()
  await done(page)
})

test('a phone has the keys that a terminal needs', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000 })
  const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/terminal`, phone)
  await shows(screen(page), '$')
  await page.keyboard.type('sleep 600\n')
  await page.locator('.tty-keys >> text=Ctrl C').tap()
  await page.keyboard.type('echo free-$((1+1))\n')
  await shows(screen(page), 'free-2')
  await page.locator('.tty-keys >> text=↑').tap()
  await page.keyboard.type('\n')
  await until('the same again', async () => (await screen(page).innerText()).split('free-2').length > 2, LIMIT)
  await sandbox.kill()
  await done(page)
})

test('a person comes in by a link', async () => {
  const page = await open()
  await page.goto(CAY_LINK)
  await page.click('#take')
  await page.click('#dashboard')
  await page.waitForSelector('#create')
  await shows(page.locator('nav .name'), 'ann@example.org')
  await page.click('#sign-out')
  await page.waitForSelector('.sign-in')
  await done(page)
})

test('of a thousand sandboxes only the rows in sight are made', async (t) => {
  const sandbox = await Sandbox.create({ timeoutMs: 600_000, metadata: { task: 'many' } })
  const page = await signedIn()
  await page.waitForSelector(row(sandbox))
  const one = (await api('GET', '/v2/sandboxes')).body.find(({ sandboxID }) => sandboxID === sandbox.sandboxId)
  const name = (n) => 'i' + String(n).padStart(20, '0')
  const set = Array.from({ length: 1000 }, (_, n) => ({ ...one, sandboxID: name(n), metadata: { task: `batch ${n % 7}`, n: String(n) } }))
  // What the server sends for so many is measured elsewhere; here is what the page does with it. Then nothing changes.
  let sent = false
  await page.route('**/dashboard/api/v2/sandboxes/live', (route) => {
    if (!sent) void route.fulfill({ contentType: 'text/event-stream', body: `event: all\ndata: ${JSON.stringify({ set })}\n\n` })
    sent = true
  })
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('.tr[data-id]')) return
      observer.disconnect()
      requestAnimationFrame(() => (window.interactive = performance.now()))
    }).observe(document, { childList: true, subtree: true })
  })
  await page.bringToFront()
  await page.reload()
  await page.waitForSelector(`.tr[data-id=${name(0)}]`)
  const interactive = await page.evaluate(() => window.interactive)
  // Time of the thread, as other programs of the machine take theirs in between; without what draws, as no display does it.
  const profiler = await page.context().newCDPSession(page)
  await profiler.send('Performance.enable', { timeDomain: 'threadTicks' })
  const work = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration']
  const busy = async () =>
    (await profiler.send('Performance.getMetrics')).metrics.filter(({ name }) => work.includes(name)).reduce((sum, { value }) => sum + value, 0)
  const before = await busy()
  const seen = await page.evaluate(async (limit) => {
    const end = performance.now() + limit
    // A page that is not drawn has no frames.
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve) && setTimeout(resolve, 1000))
    let [frames, rows, empty] = [0, 0, 0]
    while (scrollY + innerHeight < document.documentElement.scrollHeight - 1 && performance.now() < end) {
      scrollBy(0, 132)
      await frame()
      await frame()
      frames++
      rows = Math.max(rows, document.querySelectorAll('.tr[data-id]').length)
      const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
      if (!middle?.closest('.tr[data-id]')) empty++
    }
    return { frames, rows, empty }
  }, LIMIT)
  const each = (1000 * ((await busy()) - before)) / seen.frames
  t.diagnostic(`interactive after ${Math.round(interactive)} ms; ${each.toFixed(1)} ms of script, style and layout for each of ${seen.frames} steps, ${seen.rows} rows`)
  assert.ok(seen.rows < 60, `${seen.rows} rows`)
  assert.ok(seen.frames > 200, `${seen.frames} steps`)
  assert.equal(seen.empty, 0)
  await page.waitForSelector(`.tr[data-id=${name(999)}]`)
  await page.fill('input[type=search]', 'n=512')
  await page.waitForSelector(`.tr[data-id=${name(511)}]`, { state: 'detached' })
  assert.equal(await page.locator('.tr[data-id]').count(), 1)
  await sandbox.kill()
  await done(page)
})

test('a page of a sandbox does nothing with the cookie of the dashboard', async () => {
  const victim = await Sandbox.create({ timeoutMs: 600_000 })
  const evil = await Sandbox.create({ timeoutMs: 600_000 })
  await evil.files.write('/home/user/index.html', '<title>evil</title>')
  await evil.commands.run('python3 -m http.server 8000', { background: true })
  const base = `https://${CAY_DOMAIN}`
  const page = await signedIn(E2B_API_KEY, '', { base })
  const [cookie] = await page.context().cookies()
  assert.equal(cookie.name, '__Host-cay_key')
  assert.ok(cookie.secure && cookie.httpOnly)
  const token = await page.evaluate(async () => (await (await fetch('/dashboard/session')).json()).token)
  const attack = await page.context().newPage()
  await until('the page of the sandbox', async () =>
    (await attack.goto(`https://8000-${evil.sandboxId}.${CAY_DOMAIN}/`).catch(() => undefined))?.ok(), LIMIT)
  const told = await attack.evaluate(async ({ base, id, token }) => {
    const told = []
    const attempt = async (path, options = {}) => {
      try {
        const answer = await fetch(base + path, { credentials: 'include', ...options })
        told.push(answer.type === 'opaque' ? 'opaque' : await answer.text())
      } catch (e) {
        told.push(e.name)
      }
    }
    await attempt('/dashboard/session')
    await attempt('/dashboard/session', { method: 'DELETE', mode: 'no-cors' })
    await attempt('/dashboard/session', { method: 'POST', mode: 'no-cors', body: '{"apiKey":"e2b_"}' })
    await attempt('/dashboard/api/v2/sandboxes', { mode: 'no-cors' })
    // Even with a token that leaked: the header needs a permission, and there is none.
    await attempt('/dashboard/api/sandboxes/' + id, { method: 'DELETE', headers: { 'X-Cay-Dashboard': token } })
    await attempt('/dashboard/api/v2/sandboxes', { headers: { 'X-Cay-Dashboard': token } })
    const frame = document.createElement('iframe')
    frame.src = base + '/dashboard'
    document.body.append(frame)
    await new Promise((resolve) => (frame.onload = resolve))
    let inside = 'hidden'
    try {
      inside = frame.contentDocument?.body?.innerText ?? 'hidden'
    } catch {
      // Another origin.
    }
    return [...told, inside]
  }, { base, id: victim.sandboxId, token })
  assert.ok(told.every((text) => ['opaque', 'TypeError', 'hidden', ''].includes(text)), JSON.stringify(told))
  assert.equal((await api('GET', '/sandboxes/' + victim.sandboxId)).status, 200)
  // And the person is still signed in.
  await page.reload()
  await page.waitForSelector(row(victim))
  await victim.kill()
  await evil.kill()
  await page.context().close()
})

test('pages are accessible, and look well in both schemes', async () => {
  const users = ['ann', 'bob', 'eve']
  const sandboxes = await Promise.all(users.map((user) => Sandbox.create({ timeoutMs: 900_000, metadata: { user, task: 'report' } })))
  const [one] = sandboxes
  await one.commands.run('mkdir -p project/src && echo "print(42)" > project/main.py && echo "# Notes" > project/README.md')
  await one.commands.run('python3 -m http.server 8000', { background: true })
  const places = {
    sandboxes: '/', overview: '/overview', templates: '/templates', keys: '/keys', audit: '/audit', terminal: `/sandboxes/${one.sandboxId}/terminal`,
    files: `/sandboxes/${one.sandboxId}/files`, metrics: `/sandboxes/${one.sandboxId}/metrics`, logs: `/sandboxes/${one.sandboxId}/logs`,
  }
  const ready = {
    metrics: (page) => page.waitForSelector('.chart canvas'),
    terminal: async (page) => {
      await page.waitForSelector('.xterm-screen')
      await shows(screen(page), '$')
      await page.keyboard.type('clear; ls -la project; python3 project/main.py\n')
      await shows(screen(page), '42')
    },
  }
  await look(places, { ready, phones: ['sandboxes', 'logs'] })
  await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
})
