// The dashboard's pages of a team: volumes with files, secrets, webhooks with deliveries, limits.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Sandbox, until } from './client.mjs'
import { api, directory, done, HOSTILE, LIMIT, look, open, shows, signedIn } from './dashboard.mjs'

const { CAY_FOREIGN_KEY, CAY_MEMBER_LINK, E2B_API_KEY, E2B_API_URL } = process.env
const VALUE = 'sk-value-that-nobody-reads-back'

/** What a webhook sends to. It answers as it is told, and notes what it gets. */
const receiver = { status: 200, body: 'thanks', got: [] }
const server = http.createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part) => (text += part))
  request.on('end', () => {
    receiver.got.push({ headers: request.headers, text, body: JSON.parse(text) })
    response.writeHead(receiver.status, { 'Content-Type': 'text/html' }).end(receiver.body)
  })
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())
const address = `http://127.0.0.1:${server.address().port}/hook`

const line = (page, text) => page.locator('tbody tr', { hasText: text })
const isTitled = (page, text) => until('the title', async () => (await page.locator('h1').innerText()) === text, LIMIT)

/** Presses the button of the question whether it is really meant. */
const yes = (page) => page.click('dialog button.danger')

test('a volume is made, filled, browsed and deleted', async () => {
  const page = await signedIn()
  await page.waitForSelector('#create')
  await page.keyboard.press('g')
  await page.keyboard.press('v')
  await isTitled(page, 'Volumes')
  await page.click('#create')
  await page.fill('dialog input[name=name]', 'no/such name')
  await page.click('dialog button.primary')
  await shows(page.locator('dialog .problem'), 'Name must')
  await page.fill('dialog input[name=name]', 'datasets')
  await page.fill('dialog input[name=sizeMB]', '0.25')
  await page.click('dialog button.primary')
  await isTitled(page, 'datasets')
  const { volumeID } = (await api('GET', '/volumes')).body.find(({ name }) => name === 'datasets')
  assert.ok(page.url().endsWith('/volumes/' + volumeID), page.url())
  await shows(page.locator('.page'), '256 MiB')

  const upload = join(directory, 'numbers.csv')
  await writeFile(upload, '1,2,3\n')
  await page.setInputFiles('input[type=file]', upload)
  await page.click('[data-id="numbers.csv"] button.link')
  await page.fill('.editor', '4,5,6\n')
  await page.click('dialog button.primary')
  await page.waitForSelector('dialog', { state: 'detached' })
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File([new Uint8Array(300_000)], 'large.bin'))
    return data
  })
  await page.dispatchEvent('.files', 'drop', { dataTransfer: dropped })
  await shows(page.locator('[data-id="large.bin"]'), '293 KiB')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[aria-label="Download numbers.csv"]')])
  assert.equal(await readFile(await download.path(), 'utf8'), '4,5,6\n')

  // The directory is in the address, and the browser goes back.
  await page.click('text=New directory')
  await page.fill('dialog input[name=name]', 'years')
  await page.click('dialog button.primary')
  await page.click('[data-id="years"] button.link')
  await shows(page.locator('.files'), 'Empty. Drop files here')
  assert.match(page.url(), /path=%2Fyears$/)
  await page.goBack()
  await page.waitForSelector('[data-id="years"]')

  // A sandbox has the same files. What it writes is shown as text.
  const sandbox = await Sandbox.create({ volumeMounts: { '/data': 'datasets' }, timeoutMs: 600_000 })
  assert.equal(await sandbox.files.read('/data/numbers.csv'), '4,5,6\n')
  const name = HOSTILE.replaceAll('/', '') + '\u001b[2J'
  await sandbox.commands.run(`touch -- "$NAME" && ln -s "$NAME" /data/link`, { cwd: '/data', envs: { NAME: name } })
  await page.reload()
  await shows(page.locator('.files'), '<img src=x')
  assert.equal(await page.locator('.files img').count(), 0)
  assert.match(await page.title(), /Cay$/)

  // It is in use, and the page says by whom.
  await page.click('text=Delete volume')
  await yes(page)
  await shows(page.locator('.toast.bad'), sandbox.sandboxId)
  await sandbox.kill()
  await page.fill('.files input[type=search]', 'large')
  await page.waitForSelector('[data-id="numbers.csv"]', { state: 'detached' })
  await page.check('[aria-label="All that match"]')
  await page.click('.bulk >> text=Delete')
  await yes(page)
  await shows(page.locator('main'), 'Nothing matches')
  await page.click('nav >> text=Volumes')
  await line(page, 'datasets').locator('button.danger').click()
  await yes(page)
  await shows(page.locator('main'), 'No volumes yet')
  assert.deepEqual((await api('GET', '/volumes')).body, [])
  await done(page)
})

test('a secret is made, replaced and deleted, and its value is not shown', async () => {
  const page = await signedIn(E2B_API_KEY, '/secrets')
  const answers = []
  page.on('response', async (answer) => answers.push(await answer.text().catch(() => '')))
  await page.click('#create')
  await page.fill('dialog input[name=name]', 'service-key')
  await page.fill('dialog textarea[name=value]', VALUE)
  await page.fill('dialog input[name=hosts]', HOSTILE)
  await page.click('dialog button.primary')
  await shows(page.locator('dialog .problem'), 'must be host names')
  assert.equal(await page.evaluate(() => document.activeElement.name), 'hosts')
  await page.fill('dialog input[name=hosts]', 'api.example.com, *.example.org')
  await page.click('dialog button.primary')
  await shows(line(page, 'service-key'), 'api.example.com, *.example.org')
  await shows(line(page, 'service-key'), '${e2b.secrets.service-key}')

  const [secret] = (await api('GET', '/secrets')).body
  assert.equal(secret.metadata['cay.hosts'], 'api.example.com,*.example.org')
  // What others wrote into the metadata stays, and is shown as text.
  await api('POST', '/secrets/' + secret.secretID, { value: VALUE, metadata: { owner: HOSTILE, 'cay.hosts': 'api.example.com' } })
  await line(page, 'service-key').locator('text=Replace').click()
  await page.waitForSelector('dialog')
  assert.equal(await page.inputValue('dialog input[name=hosts]'), 'api.example.com')
  assert.equal(await page.inputValue('dialog textarea[name=value]'), '')
  await page.fill('dialog textarea[name=value]', VALUE + '-2')
  await page.fill('dialog input[name=hosts]', '')
  await page.click('dialog button.primary')
  await shows(line(page, 'service-key'), 'any host that a rule names')
  const after = (await api('GET', '/secrets/' + secret.secretID)).body
  assert.deepEqual([after.currentVersion, after.metadata], [3, { owner: HOSTILE }])

  await line(page, 'service-key').locator('button.danger').click()
  await yes(page)
  await shows(page.locator('main'), 'No secrets yet')
  assert.ok(answers.length > 3)
  assert.ok(![...answers, await page.content()].some((text) => text.includes(VALUE)))
  await done(page)
})

test('people are added to the team, changed and removed; nobody changes themselves', async () => {
  const page = await open()
  await page.goto(CAY_MEMBER_LINK)
  await page.click('#take')
  await page.click('#dashboard')
  await page.waitForSelector('#create')
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  await isTitled(page, 'Members')
  await shows(line(page, 'olga@example.org'), 'you')
  assert.equal(await line(page, 'olga@example.org').locator('button').count(), 0)
  await page.click('#create')
  await page.fill('dialog input[name=email]', `bob'@example.org`)
  await page.selectOption('dialog select', 'read')
  await page.click('dialog button.primary')
  await shows(page.locator('dialog .problem'), 'must be an e-mail address')
  await page.fill('dialog input[name=email]', 'Bob@example.org')
  await page.click('dialog button.primary')
  await shows(line(page, 'bob@example.org'), 'read')
  await line(page, 'bob@example.org').locator('text=Change').click()
  await page.selectOption('dialog select', 'templates')
  await page.click('dialog button.primary')
  await shows(line(page, 'bob@example.org'), 'templates')
  const scopes = async () => (await api('GET', '/members')).body.map(({ email, scope }) => `${email} ${scope}`)
  assert.deepEqual(await scopes(), ['ann@example.org all', 'bob@example.org templates', 'olga@example.org all'])

  // All that match are others.
  await page.check('[aria-label="All that match"]')
  await page.uncheck('[aria-label="Choose ann@example.org"]')
  await page.click('.bulk >> text=Remove')
  await shows(page.locator('dialog'), 'Remove bob@example.org?')
  await yes(page)
  await line(page, 'bob@example.org').waitFor({ state: 'detached' })
  assert.deepEqual(await scopes(), ['ann@example.org all', 'olga@example.org all'])
  // What the page leaves out, the server refuses.
  const refused = await page.evaluate(async () => {
    const { token, teams } = await (await fetch('/dashboard/session')).json()
    const headers = { 'X-Cay-Dashboard': token, 'X-Team-ID': teams[0].id, 'Content-Type': 'application/json' }
    return (await fetch('/dashboard/api/members/olga@example.org', { method: 'DELETE', headers })).status
  })
  assert.equal(refused, 409)

  const { body } = await api('POST', '/api-keys', { name: 'looks', scope: 'read' })
  const reader = await signedIn(body.key, '/members')
  await shows(reader.locator('main'), 'its scope is read')
  assert.equal(await reader.locator('nav >> text=Members').count(), 0)
  await api('DELETE', '/api-keys/' + body.id)
  await done(reader)
  await done(page)
})

test('a webhook is made, tested and changed; deliveries are shown and sent again', async () => {
  const page = await signedIn(E2B_API_KEY, '/webhooks')
  await page.click('#create')
  await page.fill('dialog input[name=name]', 'billing')
  for (const [wrong, problem] of [['ftp://example.org/', 'Address must be an address like'], ['http://10.0.0.1/', 'webhooks.allow']]) {
    await page.fill('dialog input[name=url]', wrong)
    await page.click('dialog button.primary')
    await shows(page.locator('dialog .problem'), problem)
  }
  await page.fill('dialog input[name=url]', address)
  for (const event of await page.locator('dialog input[name=events]').all()) await event.uncheck()
  await page.click('dialog button.primary')
  await shows(page.locator('dialog fieldset .problem'), 'Events must name at least one')
  for (const event of ['created', 'killed']) await page.check(`dialog input[value="sandbox.lifecycle.${event}"]`)
  await page.click('dialog button.primary')
  const secret = (await page.locator('#made').innerText()).trim()
  await page.click('dialog [aria-label=Close]')
  await isTitled(page, 'billing')
  const id = page.url().split('/').at(-1)
  assert.ok(!(await page.content()).includes(secret))

  receiver.body = `${HOSTILE}\u001b[2J and more`
  await page.click('text=Send a test')
  await shows(page.locator('dialog'), 'cay.webhook.test')
  await shows(page.locator('dialog'), '<img src=x onerror="document.title=1"> and more')
  assert.equal(await page.locator('dialog img').count(), 0)
  const { text, headers } = receiver.got.at(-1)
  assert.equal(headers['e2b-signature'], createHash('sha256').update(secret + text).digest('base64url'))
  await page.click('dialog [aria-label=Close]')

  const sandbox = await Sandbox.create({ timeoutMs: 600_000, metadata: { note: HOSTILE } })
  await shows(line(page, 'created'), 'delivered')
  receiver.status = 500
  await sandbox.kill()
  await shows(line(page, 'killed'), 'waiting')
  await shows(line(page, 'killed'), 'status 500')
  await page.selectOption('[aria-label=Result]', 'failed')
  await line(page, 'created').waitFor({ state: 'detached' })
  await line(page, 'killed').locator('button.link').click()
  await shows(page.locator('dialog'), sandbox.sandboxId)
  await shows(page.locator('dialog'), 'status 500')
  assert.equal(await page.locator('dialog img').count(), 0)
  await page.click('dialog [aria-label=Close]')
  receiver.status = 200
  await page.reload()
  await line(page, 'killed').locator('text=Send again').click()
  await shows(page.locator('main'), 'Nothing matches')
  await page.selectOption('[aria-label=Result]', '')
  await shows(line(page, 'killed'), 'delivered')
  await shows(page.locator('.facts'), 'of which')
  const sent = () => receiver.got.filter(({ body }) => body.type === 'sandbox.lifecycle.created').length
  const before = sent()
  await line(page, 'created').locator('input[type=checkbox]').check()
  await page.click('.bulk >> text=Send again')
  await until('the event again', () => sent() > before, LIMIT)
  await page.click('#redeliver')
  await shows(page.locator('.toasts'), 'Nothing was given up')

  await page.click('.page >> text=Change')
  await page.fill('dialog input[name=name]', HOSTILE)
  await page.uncheck('dialog input[value="sandbox.lifecycle.killed"]')
  await page.click('dialog button.primary')
  await isTitled(page, HOSTILE)
  await page.click('.page >> text=Switch off')
  await page.waitForSelector('.page .state.off')
  const changed = (await api('GET', '/events/webhooks/' + id)).body
  assert.deepEqual([changed.enabled, changed.events, changed.name], [false, ['sandbox.lifecycle.created'], HOSTILE])
  assert.equal(await page.locator('#redeliver').count(), 0)
  await page.click('nav >> text=Webhooks')
  await page.check('tbody input[type=checkbox]')
  await page.click('.bulk >> text=Switch on')
  await page.waitForSelector('tbody .state.on')
  assert.equal(await page.locator('main img').count(), 0)
  await line(page, '<img src=x').locator('button.danger').click()
  await yes(page)
  await shows(page.locator('main'), 'No webhooks yet')
  assert.equal((await api('GET', '/events/webhooks/' + id)).status, 404)
  await done(page)
})

test('a reader looks and changes nothing, another team sees nothing, an old session comes back', async () => {
  const volume = (await api('POST', '/volumes', { name: 'shared', sizeMB: 64 })).body
  const content = `${E2B_API_URL}/volumecontent/${volume.volumeID}/file?path=/note.txt`
  await fetch(content, { method: 'PUT', headers: { Authorization: 'Bearer ' + volume.token }, body: 'for readers' })
  const events = ['sandbox.lifecycle.created']
  const webhook = (await api('POST', '/events/webhooks', { name: 'seen', url: address, events, signatureSecret: 's' })).body
  const { body } = await api('POST', '/api-keys', { name: 'reader', scope: 'read' })
  const reader = await signedIn(body.key, '/volumes')
  const buttons = () => reader.locator('main button:not(.icon):not(.link)').allInnerTexts()

  await line(reader, 'shared').locator('a').click()
  await reader.click('[data-id="note.txt"] button.link')
  assert.equal(await reader.inputValue('.editor'), 'for readers')
  assert.equal(await reader.getAttribute('.editor', 'readonly'), '')
  await reader.click('dialog [aria-label=Close]')
  assert.deepEqual((await buttons()).filter(Boolean), [])
  const dropped = await reader.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['x'], 'dropped.txt'))
    return data
  })
  await reader.dispatchEvent('.files', 'drop', { dataTransfer: dropped })
  for (const path of ['/volumes', '/webhooks', '/webhooks/' + webhook.id]) {
    await reader.goto(E2B_API_URL + '/dashboard' + path)
    await shows(reader.locator('main'), path === '/volumes' ? 'shared' : 'seen')
    assert.deepEqual(await buttons(), [], path)
    assert.equal(await reader.locator('main input[type=checkbox]').count(), 0)
  }
  for (const name of ['Secrets', 'API keys', 'Limits', 'Audit log']) assert.equal(await reader.locator(`nav >> text=${name}`).count(), 0, name)
  await reader.goto(E2B_API_URL + '/dashboard/secrets')
  await shows(reader.locator('.failed'), 'scope')
  // The server refuses what the page does not offer.
  const refused = await reader.evaluate(async ({ webhook, volume }) => {
    const { token } = await (await fetch('/dashboard/session')).json()
    const headers = { 'X-Cay-Dashboard': token, 'Content-Type': 'application/json' }
    const send = (method, path, body, more = {}) =>
      fetch('/dashboard/api' + path, { method, headers: { ...headers, ...more }, body: body && JSON.stringify(body) })
    const opened = await (await send('GET', '/volumes/' + volume)).json()
    const open = { Authorization: 'Bearer ' + opened.token }
    const answers = await Promise.all([
      send('POST', '/secrets', { name: 'x', value: 'y' }),
      send('GET', '/secrets'),
      send('PATCH', '/events/webhooks/' + webhook, { enabled: false }),
      send('POST', `/events/webhooks/${webhook}/test`, {}),
      send('POST', `/events/webhooks/${webhook}/redeliveries`, { failed: true }),
      send('DELETE', '/events/webhooks/' + webhook),
      send('DELETE', '/volumes/' + volume),
      send('PUT', `/volumecontent/${volume}/file?path=/new.txt`, {}, open),
      send('DELETE', `/volumecontent/${volume}/path?path=/note.txt`, undefined, open),
      send('GET', '/limits'),
    ])
    return answers.map(({ status }) => status)
  }, { webhook: webhook.id, volume: volume.volumeID })
  assert.deepEqual(refused, Array(10).fill(403))

  const other = await signedIn(CAY_FOREIGN_KEY, '/volumes')
  await shows(other.locator('main'), 'No volumes yet')
  for (const [path, text] of [['/volumes/' + volume.volumeID, 'Volume not found'], ['/webhooks/' + webhook.id, 'there is no webhook']]) {
    await other.goto(E2B_API_URL + '/dashboard' + path)
    await shows(other.locator('.failed'), text)
    assert.ok(!/shared|seen/.test(await other.locator('main').innerText()), path)
  }
  for (const [path, text] of [['/webhooks', 'No webhooks yet'], ['/secrets', 'No secrets yet']]) {
    await other.goto(E2B_API_URL + '/dashboard' + path)
    await shows(other.locator('main'), text)
  }

  // A session that is over leads to the sign-in, and back to the same page.
  await reader.goto(`${E2B_API_URL}/dashboard/webhooks/${webhook.id}?status=failed`)
  await shows(reader.locator('main'), 'seen')
  await api('DELETE', '/api-keys/' + body.id)
  await reader.waitForSelector('.sign-in')
  await reader.fill('input[name=key]', E2B_API_KEY)
  await reader.click('.sign-in button.primary')
  await shows(reader.locator('main'), 'Send a test')
  assert.ok(reader.url().endsWith(`/webhooks/${webhook.id}?status=failed`), reader.url())
  assert.equal(await reader.inputValue('[aria-label=Result]'), 'failed')
  await api('DELETE', '/events/webhooks/' + webhook.id)
  await api('DELETE', '/volumes/' + volume.volumeID)
  await done(reader)
  await done(other)
})

test('pages of a team are accessible, and look well in both schemes', async () => {
  const volume = (await api('POST', '/volumes', { name: 'datasets', sizeMB: 512 })).body
  await api('POST', '/volumes', { name: 'models', sizeMB: 2048 })
  const put = (path, body) =>
    fetch(`${E2B_API_URL}/volumecontent/${volume.volumeID}/file?force=true&path=${path}`, {
      method: 'PUT',
      headers: { Authorization: 'Bearer ' + volume.token },
      body,
    })
  await put('/README.md', '# Datasets\n')
  await put('/2026/numbers.csv', '1,2,3\n')
  await put('/images.tar', new Uint8Array(90 << 20))
  for (const [name, hosts] of [['openai', 'api.openai.com'], ['github', 'api.github.com,*.githubusercontent.com'], ['warehouse', '']]) {
    await api('POST', '/secrets', { name, value: VALUE, metadata: hosts ? { 'cay.hosts': hosts } : {} })
  }
  const events = ['created', 'updated', 'paused', 'resumed', 'killed', 'checkpointed'].map((type) => 'sandbox.lifecycle.' + type)
  const webhook = (await api('POST', '/events/webhooks', { name: 'billing', url: address, events, signatureSecret: 's' })).body
  const other = { name: 'audit archive', url: address + '/archive', events: events.slice(0, 1), signatureSecret: 's', enabled: false }
  await api('POST', '/events/webhooks', other)
  Object.assign(receiver, { status: 200, body: '{"ok":true}' })
  const sandboxes = await Promise.all([1, 2, 3].map(() => Sandbox.create({ timeoutMs: 600_000 })))
  const deliveries = async () => (await api('GET', `/events/webhooks/${webhook.id}/deliveries`)).body.data
  await until('deliveries', async () => (await deliveries()).length >= 3)
  receiver.status = 503
  await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
  await until('failures', async () => (await deliveries()).length >= 6)

  const one = '/webhooks/' + webhook.id
  const places = {
    volumes: '/volumes', volume: '/volumes/' + volume.volumeID, secrets: '/secrets', 'secret-form': '/secrets', webhooks: '/webhooks',
    'webhook-form': '/webhooks', webhook: one, delivery: one, limits: '/limits',
    members: '/members',
  }
  const rows = (page) => page.waitForSelector('tbody tr')
  const creating = async (page) => {
    await rows(page)
    await page.click('#create')
  }
  const ready = {
    volumes: rows, volume: rows, members: rows, secrets: rows, webhooks: rows, webhook: rows,
    'secret-form': creating,
    'webhook-form': creating,
    delivery: async (page) => {
      await line(page, 'killed').first().locator('button.link').click()
      await page.waitForSelector('dialog .output')
    },
  }
  await look(places, { ready, phones: Object.keys(places) })
  for (const { secretID } of (await api('GET', '/secrets')).body) await api('DELETE', '/secrets/' + secretID)
  for (const { volumeID } of (await api('GET', '/volumes')).body) await api('DELETE', '/volumes/' + volumeID)
  for (const { id } of (await api('GET', '/events/webhooks')).body) await api('DELETE', '/events/webhooks/' + id)
})
