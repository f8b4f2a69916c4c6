// The page of a sandbox's MCP gateway. The servers behind it are those of GatewayWorld: `fixtures`, and `marked` and `broken`,
// whose texts are markup.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sandbox, until } from './client.mjs'
import { api, done, LIMIT, look, shows, signedIn } from './dashboard.mjs'

const { E2B_API_KEY } = process.env
const servers = (page) => page.locator('[aria-label=Servers] tbody')
const server = (page, key) => servers(page).locator(`tr[data-id="${key}"]`)
const result = (page) => page.locator('#result')

/** Opens the form of a tool. */
async function open(page, name) {
  await page.locator(`[aria-label="Try ${name}"]`).click({ timeout: 3 * LIMIT })
  await page.waitForSelector('dialog .try')
}

const field = (page, name) => page.locator('dialog .field', { has: page.locator('label', { hasText: name }) }).locator('input, select, textarea')

test('a gateway is shown with its servers and tools; a tool is called; texts of servers are text', async () => {
  const sandbox = await Sandbox.create('mcp-gateway', { mcp: { marked: { apiToken: 'sk-hidden' }, broken: {} }, timeoutMs: 900_000 })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/mcp`)
  const answers = []
  page.on('response', async (answer) => answers.push(await answer.text().catch(() => '')))
  await server(page, 'marked').locator('.state.ready').waitFor({ timeout: 3 * LIMIT })
  await server(page, 'broken').locator('.state.failed').waitFor({ timeout: 3 * LIMIT })
  await shows(server(page, 'broken'), '<img src=x onerror="document.title=1">')
  assert.equal(await page.locator('#add-server').count(), 0)

  // The token is shown when somebody asks, and is the one that clients need.
  const token = await sandbox.getMcpToken()
  await shows(page.locator('.connect'), sandbox.getMcpUrl())
  assert.ok(!(await page.content()).includes(token))
  await page.click('.connect >> text=Show')
  await shows(page.locator('#mcp-token'), token)
  await page.click('.connect >> text=Hide')
  assert.ok(!(await page.content()).includes(token))

  await open(page, 'marked-echo')
  await shows(page.locator('dialog'), '<img src=x')
  await page.click('dialog >> text=Schema of its arguments')
  await shows(page.locator('dialog .output'), '"times"')
  await field(page, 'text').fill('hello\n"there"')
  await field(page, 'loud').selectOption('true')
  await field(page, 'mood').selectOption({ index: 2 })
  await field(page, 'more').fill('{no}')
  await page.click('dialog button.primary')
  await shows(page.locator('dialog .problem'), 'more must be JSON')
  await field(page, 'more').fill('{"a": [1]}')
  await field(page, '__proto__').fill('own')
  await page.click('dialog button.primary')
  await shows(result(page), '"text":"hello\\n\\"there\\""')
  const said = await result(page).locator('pre').first().innerText()
  const given = JSON.parse(said.slice(said.indexOf('{')))
  assert.deepEqual([given.times, given.loud, given.more], [2, true, { a: [1] }])
  assert.match(given.mood, /^<img/)
  assert.ok(Object.hasOwn(given, '__proto__'))
  await until('the picture', () => result(page).locator('img').evaluate((image) => image.naturalWidth === 1), LIMIT)
  assert.equal(await result(page).locator('img').count(), 1)
  assert.equal(await page.locator('dialog a').count(), 0)
  await page.click('dialog >> text=As JSON')
  await page.fill('dialog textarea[name=json]', '[1]')
  await page.click('dialog button.primary')
  await shows(page.locator('dialog .problem'), 'must be an object')
  await page.fill('dialog textarea[name=json]', '{"text": "as it is"}')
  await page.click('dialog button.primary')
  await shows(result(page), '"text":"as it is"')
  await page.keyboard.press('Escape')

  // One that never answers is stopped, and one that fails says why.
  await open(page, 'marked-slow')
  await page.click('dialog button.primary')
  await page.click('dialog >> text=Stop')
  await shows(result(page), 'stopped')
  await page.keyboard.press('Escape')
  await open(page, 'marked-wrong')
  await page.click('dialog button.primary')
  await shows(result(page).locator('.error'), 'it failed <img src=x')
  await page.keyboard.press('Escape')
  await shows(page.locator('[role=log]'), 'marked: call of echo done')
  await shows(page.locator('[role=log]'), 'marked: call of wrong failed')
  assert.ok(!(await page.locator('[role=log]').innerText()).includes('as it is'))
  await page.locator('[aria-label=Tools] input[type=search]').fill('for ever')
  await page.waitForSelector('[aria-label="Try marked-echo"]', { state: 'detached' })
  assert.match(await page.title(), /Cay$/)
  assert.equal(await page.locator('main img').count(), 0)
  assert.ok(answers.length > 5)
  assert.ok(!answers.some((text) => text.includes('sk-hidden')))

  // It goes on after a pause, with the same page.
  await page.click('#pause')
  await shows(page.locator('main'), 'The sandbox is paused')
  await page.click('#resume')
  await server(page, 'marked').locator('.state.ready').waitFor({ timeout: 3 * LIMIT })
  await page.locator('[aria-label=Tools] input[type=search]').fill('')
  await open(page, 'marked-echo')
  await field(page, 'text').fill('again')
  await page.click('dialog button.primary')
  await shows(result(page), '"text":"again"')
  await sandbox.kill()
  await done(page)
})

test('a gateway is started on the page; a server of the catalog is added, used and removed', async () => {
  const sandbox = await Sandbox.create('base', { timeoutMs: 900_000 })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/mcp`)
  await page.click('#start-gateway')
  await page.click('#add-server', { timeout: 3 * LIMIT })
  await page.fill('dialog input[type=search]', 'marked')
  await page.click('dialog .found [data-id=marked] button')
  await page.fill('dialog input[name=option0]', 'sk-hidden')
  await page.click('dialog button.primary')
  await server(page, 'marked').locator('.state.ready').waitFor({ timeout: 3 * LIMIT })
  await open(page, 'marked-echo')
  await field(page, 'text').fill('added')
  await page.click('dialog button.primary')
  await shows(result(page), '"text":"added"')
  await page.keyboard.press('Escape')
  await server(page, 'marked').locator('button.danger').click()
  await page.click('dialog button.danger')
  await server(page, 'marked').waitFor({ state: 'detached' })
  await page.waitForSelector('[aria-label="Try marked-echo"]', { state: 'detached' })
  assert.match((await sandbox.commands.run('mcp-gateway status')).stdout, /"servers" : \{ \}/)
  await sandbox.kill()
  await done(page)
})

test('what only looks like a gateway is called what it is, and a reader has no such page', async () => {
  const sandbox = await Sandbox.create('base', { timeoutMs: 900_000 })
  await sandbox.commands.run('mkdir -p /tmp/web && echo "<script>document.title=1</script>" > /tmp/web/health && cd /tmp/web && python3 -m http.server 50005', {
    background: true,
    timeoutMs: 0,
  })
  await until('the server', async () => (await sandbox.commands.run('curl -s localhost:50005/health || true')).stdout.includes('script'), LIMIT)
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/mcp`)
  await shows(page.locator('main'), 'what listens at port 50005 is no gateway of Cay')
  assert.match(await page.title(), /Cay$/)
  const { body } = await api('POST', '/api-keys', { name: 'looks', scope: 'read' })
  const reader = await signedIn(body.key, `/sandboxes/${sandbox.sandboxId}/mcp`)
  await reader.waitForSelector('.tabs')
  assert.equal(await reader.locator('.tabs >> text=MCP').count(), 0)
  await api('DELETE', '/api-keys/' + body.id)
  await sandbox.kill()
  await done(reader)
  await done(page)
})

test('the page is accessible, and looks well in both schemes', async () => {
  const sandbox = await Sandbox.create('mcp-gateway', { mcp: { fixtures: {}, broken: {} }, timeoutMs: 900_000 })
  const mcp = `/sandboxes/${sandbox.sandboxId}/mcp`
  const ready = async (page) => {
    await server(page, 'fixtures').locator('.state.ready').waitFor({ timeout: 3 * LIMIT })
    await page.waitForSelector('[aria-label^="Try fixtures-"]', { timeout: 3 * LIMIT })
  }
  const trying = async (page) => {
    await ready(page)
    await open(page, 'fixtures-json_schema_2020_12_tool')
    await field(page, 'name').fill('Ann')
    await page.click('dialog button.primary')
    await shows(result(page), 'Ann')
  }
  await look({ mcp, 'mcp-tool': mcp }, { ready: { mcp: ready, 'mcp-tool': trying }, phones: ['mcp', 'mcp-tool'] })
  await sandbox.kill()
})
