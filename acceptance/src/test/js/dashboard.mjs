// A browser that uses the dashboard as a person does.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { until } from './client.mjs'
import { apart } from './relay.mjs'

const { CAY_CHROMIUM, CAY_DOMAIN, CAY_PLAYWRIGHT, CAY_SCREENSHOTS, E2B_API_KEY, E2B_API_URL } = process.env
export const require = createRequire(CAY_PLAYWRIGHT + '/package.json')
const { chromium } = require('playwright-core')
export const LIMIT = 120_000
/** Markup that would change the page's title, were it taken for markup. */
export const HOSTILE = '<img src=x onerror="document.title=1">'

export let directory
let browser
before(async () => {
  // The first start on a machine builds the files.
  await until('the files of the dashboard', async () => (await fetch(E2B_API_URL + '/dashboard')).ok, 10 * LIMIT)
  directory = await mkdtemp(join(tmpdir(), 'cay-dashboard-'))
  await mkdir(CAY_SCREENSHOTS, { recursive: true })
  const ports = [new URL(E2B_API_URL).port, CAY_DOMAIN.split(':')[1]].map(Number)
  const program = join(directory, 'chromium')
  const command = await apart(join(directory, 'relay'), ports, [CAY_CHROMIUM])
  await writeFile(program, `#!/bin/sh\nexec ${command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')} "$@"\n`)
  await chmod(program, 0o755)
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-proxy-server', '--disable-background-networking']
  browser = await chromium.launch({ executablePath: program, args, timeout: LIMIT })
})
after(async () => {
  await browser?.close()
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
})

/** A page of a browser of its own. Whatever the page complains about fails the test. */
export async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ignoreHTTPSErrors: true, ...options })
  context.setDefaultTimeout(LIMIT)
  const page = await context.newPage()
  page.broken = []
  page.on('pageerror', (error) => page.broken.push(error.message))
  page.on('console', (said) => /Content Security Policy/.test(said.text()) && page.broken.push(said.text()))
  return page
}

export async function signedIn(key = E2B_API_KEY, path = '', options = {}) {
  const page = await open(options)
  await page.goto(`${options.base ?? E2B_API_URL}/dashboard${path}`)
  await page.fill('input[name=key]', key)
  await page.click('.sign-in button.primary')
  await page.waitForSelector('nav .brand')
  return page
}

export async function done(page) {
  assert.deepEqual(page.broken, [])
  await page.context().close()
}

export async function api(method, path, body, key = E2B_API_KEY) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const answer = await fetch(E2B_API_URL + path, { method, headers, body: body && JSON.stringify(body) })
  const text = await answer.text()
  return { status: answer.status, body: text ? JSON.parse(text) : undefined }
}

export const row = (sandbox) => `.tr[data-id=${sandbox.sandboxId}]`
export const screen = (page) => page.locator('.xterm-rows')

/** Waits until the text is in the element. */
export const shows = (locator, text) =>
  until(`"${text}" on the page`, async () => (await locator.innerText().catch(() => '')).replaceAll('\u00a0', ' ').includes(text), LIMIT)

/**
 * Takes a picture of each place in both schemes, and on a phone, and gives what is wrong with it for people who cannot see or
 * use a mouse.
 *
 * @param ready what to wait for in a place, or to do there
 */
export async function look(places, { ready = {}, phones = [] } = {}) {
  const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8')
  const wrong = []
  for (const colorScheme of ['light', 'dark']) {
    const page = await signedIn(E2B_API_KEY, '', { colorScheme, bypassCSP: true })
    for (const [name, path] of Object.entries(places)) {
      await page.goto(E2B_API_URL + '/dashboard' + path)
      await page.waitForSelector('h1')
      await ready[name]?.(page)
      await page.waitForTimeout(1500)
      await page.screenshot({ path: join(CAY_SCREENSHOTS, `${name}-${colorScheme}.png`) })
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] }))
      // What the terminal shows is the sandbox's, with its own colours.
      for (const { id, nodes } of violations) {
        const targets = nodes.map(({ target }) => target.join(' ')).filter((target) => !/xterm|tty/.test(target))
        if (targets.length) wrong.push(`${name} ${colorScheme}: ${id} ${targets.slice(0, 3).join(', ')}`)
      }
    }
    await page.setViewportSize({ width: 390, height: 800 })
    for (const name of phones) {
      await page.goto(E2B_API_URL + '/dashboard' + places[name])
      await page.waitForSelector('h1')
      await ready[name]?.(page)
      await page.waitForTimeout(1000)
      await page.screenshot({ path: join(CAY_SCREENSHOTS, `${name}-phone-${colorScheme}.png`) })
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(overflow <= 0, `${name} is ${overflow} px too wide for a phone`)
    }
    await page.context().close()
  }
  assert.deepEqual(wrong, [])
}
