// A headless Chromium, spoken to by its own DevTools protocol over a pipe.
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import tls from 'node:tls'
import { until } from './client.mjs'
import { spawnApart } from './relay.mjs'

const LIMIT = 60_000

/** Starts a browser that ends with the test file and trusts the certificate which `host` has, and no other unknown one. */
export async function startBrowser(host) {
  return start([Number(host.split(':')[1])], [`--ignore-certificate-errors-spki-list=${await keyHash(host)}`])
}

/** Starts a browser that ends with the test file and reaches these ports of loopback. */
export function startPlainBrowser(ports) {
  return start(ports, [])
}

async function start(ports, options) {
  const profile = await mkdtemp(join(tmpdir(), 'cay-chromium-'))
  const chromium = await spawnApart(join(profile, 'relay'), ports, [
    process.env.CAY_CHROMIUM, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
    '--no-default-browser-check', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--no-proxy-server', ...options, `--user-data-dir=${profile}/profile`,
    '--remote-debugging-pipe', 'about:blank',
  ])
  started.push({ chromium, profile })
  return new Browser(chromium)
}

const started = []
after(async () => {
  for (const { chromium, profile } of started) {
    // With all its helpers, which are of its group.
    if (!hasEnded(chromium)) process.kill(-chromium.pid, 'SIGKILL')
    await rm(profile, { recursive: true, force: true, maxRetries: 10 })
  }
})

const hasEnded = ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null

/** The hash of the public key of a host whose certificate Node trusts. */
function keyHash(host) {
  const [servername, port] = host.split(':')
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: servername, port, servername }, () => {
      const key = socket.getPeerX509Certificate().publicKey.export({ type: 'spki', format: 'der' })
      socket.destroy()
      resolve(createHash('sha256').update(key).digest('base64'))
    })
    socket.on('error', reject)
  })
}

class Browser {
  #chromium
  #waiting = new Map()
  #next = 1
  #tab

  constructor(chromium) {
    this.#chromium = chromium
    let rest = ''
    chromium.stdio[4].setEncoding('utf8').on('data', (data) => {
      const messages = (rest + data).split('\0')
      rest = messages.pop()
      messages.forEach((message) => this.#receive(JSON.parse(message)))
    })
    chromium.on('exit', () => this.#waiting.forEach(({ reject }) => reject(new Error('the browser ended'))))
    // Said again by the call that was to be sent.
    chromium.stdio[3].on('error', () => {})
  }

  #receive({ id, result, error }) {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) waiting?.reject(new Error(error.message))
    else waiting?.resolve(result)
  }

  call(method, params = {}, sessionId = undefined) {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      if (hasEnded(this.#chromium)) reject(new Error('the browser ended'))
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), LIMIT)
      const settle = (how) => (value) => (clearTimeout(timer), how(value))
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      this.#chromium.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0')
    })
  }

  /** Shows a page, in the one tab there is: Chromium's headless window does not always give another one. */
  async open(url) {
    const sessionId = await (this.#tab ??= this.#attach())
    const { errorText } = await this.call('Page.navigate', { url }, sessionId)
    if (errorText) throw new Error(`${url}: ${errorText}`)
    return new Page(this, sessionId)
  }

  async #attach() {
    const { targetId } = await until('the tab', async () => {
      const { targetInfos } = await this.call('Target.getTargets')
      return targetInfos.find(({ type }) => type === 'page')
    })
    return (await this.call('Target.attachToTarget', { targetId, flatten: true })).sessionId
  }
}

class Page {
  #browser
  #session

  constructor(browser, session) {
    this.#browser = browser
    this.#session = session
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const options = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await this.#browser.call('Runtime.evaluate', options, this.#session)
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  /** Waits until the expression is truthy there, and gives its value. */
  waitFor(expression) {
    return until(expression, () => this.value(expression).catch(() => undefined), LIMIT)
  }
}
