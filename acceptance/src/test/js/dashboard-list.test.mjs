// The dashboard's list of sandboxes: its form, its groups, what is done with many, and the keys that lead to pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sandbox, until } from './client.mjs'
import { api, done, LIMIT, row, shows, signedIn } from './dashboard.mjs'

const { E2B_API_KEY, E2B_API_URL } = process.env
const idOf = (page) => page.url().match(/sandboxes\/(i\w+)/)[1]

/** Opens the form for a new sandbox with a key of the keyboard. */
async function create(page) {
  await page.waitForSelector('#create')
  await page.keyboard.press('c')
  await page.waitForSelector('dialog form')
}

test('the form gives a new sandbox its template, time, variables, metadata and hosts', async () => {
  const page = await signedIn()
  await create(page)
  await page.fill('dialog input[name=templateID]', 'no-such-template')
  await page.fill('dialog input[name=timeout]', '20')
  await page.selectOption('dialog select[name=ends]', 'pause')
  await page.fill('dialog textarea[name=metadata]', 'user=ann\ntask=a=b')
  await page.fill('dialog textarea[name=envVars]', 'GREETING=good morning\nEMPTY=')
  await page.selectOption('dialog select[name=network]', 'some')
  await page.fill('dialog input[name=allowOut]', 'not_a_host!')
  // What is wrong is said, and what was typed stays.
  await page.click('dialog button.primary')
  await shows(page.locator('dialog'), 'invalid allowed address not_a_host!')
  await page.fill('dialog input[name=allowOut]', 'allowed.example, *.other.example')
  await page.click('dialog button.primary')
  await shows(page.locator('dialog'), "template 'no-such-template' not found")
  await page.fill('dialog input[name=templateID]', 'base')
  const before = Date.now()
  await page.click('dialog button.primary')
  await page.waitForURL(/\/sandboxes\/i/)
  const id = idOf(page)
  for (const text of ['Pauses in', 'Template\nbase', 'user\nann', 'task\na=b']) await shows(page.locator('.facts'), text)

  const made = (await api('GET', '/sandboxes/' + id)).body
  assert.deepEqual(made.metadata, { user: 'ann', task: 'a=b' })
  assert.equal(made.alias, 'base')
  assert.equal(made.lifecycle.onTimeout, 'pause')
  assert.deepEqual(made.network.allowOut, ['allowed.example', '*.other.example'])
  assert.deepEqual(made.network.denyOut, ['0.0.0.0/0'])
  const minutes = (Date.parse(made.endAt) - before) / 60_000
  assert.ok(minutes > 15 && minutes < 30, `${minutes} minutes`)
  const sandbox = await Sandbox.connect(id)
  const said = await sandbox.commands.run('echo "$GREETING/${EMPTY-unset}/"')
  assert.equal(said.stdout, 'good morning//\n')
  // The rules are on its page, and what they refuse.
  await sandbox.commands.run('curl -sS -m 5 --resolve refused.example:443:192.0.2.1 https://refused.example/ || true')
  await page.click('.tabs a[href$="/egress"]')
  await shows(page.locator('main'), 'Denied: 0.0.0.0/0. Allowed: allowed.example, *.other.example.')
  await page.locator('tr', { hasText: 'refused.example' }).locator('.state.denied').waitFor()
  await sandbox.kill()
  await done(page)
})

test('the form makes a sandbox without internet', async () => {
  const page = await signedIn()
  await create(page)
  await page.selectOption('dialog select[name=network]', 'none')
  assert.equal(await page.locator('dialog input[name=allowOut]').count(), 0)
  await page.click('dialog button.primary')
  await page.waitForURL(/\/sandboxes\/i/)
  const id = idOf(page)
  assert.equal((await api('GET', '/sandboxes/' + id)).body.allowInternetAccess, false)
  await page.click('.tabs a[href$="/egress"]')
  await shows(page.locator('main'), 'Denied: everything.')
  const sandbox = await Sandbox.connect(id)
  const tried = await sandbox.commands.run('curl -sS -m 5 http://192.0.2.1/ 2>&1 || echo "refused $?"')
  assert.match(tried.stdout, /refused [1-9]/)
  await sandbox.kill()
  await done(page)
})

test('sandboxes are grouped by a key of their metadata, and all that match are extended, paused, resumed and killed', async () => {
  const users = ['cleo', 'dan', 'cleo']
  const [first, other, second] = await Promise.all(
    users.map((user, n) => Sandbox.create({ metadata: { user, many: 'yes', n: String(n) }, timeoutMs: 900_000 })),
  )
  const page = await signedIn()
  for (const one of [first, other, second]) await page.waitForSelector(row(one))
  await page.fill('input[type=search]', 'many=yes')
  await page.selectOption('[aria-label="Group by"]', 'user')
  const group = (user) => page.locator('.tr.group', { hasText: user })
  await shows(group('cleo'), '2')
  await shows(group('dan'), '1')
  const order = await page.locator('.table .tr:not(.head)').evaluateAll((rows) => rows.map((row) => row.dataset.id ?? row.firstChild.innerText))
  assert.deepEqual(order.filter((text) => !text.startsWith('i')), ['cleo', 'dan'])
  assert.deepEqual(new Set(order.slice(1, 3)), new Set([first.sandboxId, second.sandboxId]))
  // The address keeps the filter and the group.
  assert.match(page.url(), /q=many%3Dyes/)
  assert.match(page.url(), /group=user/)
  await page.reload()
  await shows(group('cleo'), '2')

  await page.fill('input[type=search]', 'user=cleo many=yes')
  await page.waitForSelector(row(other), { state: 'detached' })
  const chooseAll = async () => {
    await page.waitForSelector('.bulk', { state: 'detached' })
    await page.check('[aria-label="All that match"]')
  }
  const info = async (one) => (await api('GET', '/sandboxes/' + one.sandboxId)).body
  await chooseAll()
  await page.click('.bulk >> text=1 hour from now')
  for (const one of [first, second]) await until('more time', async () => Date.parse((await info(one)).endAt) > Date.now() + 3_000_000, LIMIT)
  assert.ok(Date.parse((await info(other)).endAt) < Date.now() + 1_000_000)
  await chooseAll()
  await page.click('.bulk >> text=Pause')
  for (const one of [first, second]) await page.waitForSelector(`${row(one)} .state.paused`)
  await chooseAll()
  await page.click('.bulk >> text=Resume')
  for (const one of [first, second]) await page.waitForSelector(`${row(one)} .state.running`)
  await chooseAll()
  await page.click('.bulk >> text=Kill')
  await shows(page.locator('dialog'), 'Kill 2 sandboxes?')
  await page.click('dialog button.danger')
  for (const one of [first, second]) await page.waitForSelector(row(one), { state: 'detached' })
  // What did not match is as it was.
  await page.fill('input[type=search]', 'many=yes')
  await page.waitForSelector(`${row(other)} .state.running`)
  await other.kill()
  await done(page)
})

test('keys of the keyboard lead to each page, to the search and to the form', async () => {
  const page = await signedIn(E2B_API_KEY, '/limits')
  const places = {
    s: 'Sandboxes', o: 'Overview', t: 'Templates', v: 'Volumes', e: 'Secrets', w: 'Webhooks', k: 'API keys', m: 'Members', l: 'Limits', a: 'Audit log',
  }
  for (const [key, title] of Object.entries(places)) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await until(`${title} by g ${key}`, async () => (await page.title()) === `${title} · Cay`, LIMIT)
    await shows(page.locator('nav [aria-current=page]'), title)
  }
  await page.keyboard.press('?')
  await shows(page.locator('dialog'), 'create a sandbox')
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForSelector('#create')
  await page.keyboard.press('/')
  assert.equal(await page.evaluate(() => document.activeElement.type), 'search')
  // In a field, letters are text.
  await page.keyboard.type('c g t')
  assert.equal(await page.inputValue('input[type=search]'), 'c g t')
  assert.equal(new URL(page.url()).origin, E2B_API_URL)
  assert.equal(await page.locator('dialog').count(), 0)
  await done(page)
})
