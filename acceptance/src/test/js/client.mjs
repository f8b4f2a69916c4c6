// The client under test, whichever version the harness installed, and what all tests share.
import { createRequire } from 'node:module'
import { after } from 'node:test'

const require = createRequire(process.env.CAY_CLIENT + '/package.json')
export const e2b = require('e2b')
export const { Sandbox } = e2b

const [major, minor] = require('e2b/package.json').version.split('.').map(Number)
/** Whether the client is at least this version: some methods came later. */
export const atLeast = (a, b) => major > a || (major === a && minor >= b)

const made = []
after(() => Promise.all(made.map((one) => one.kill().catch(() => {}))))

/** A sandbox that ends with the test file, whatever happens. */
export async function sandbox(options = {}) {
  const one = await Sandbox.create({ timeoutMs: 120_000, ...options })
  made.push(one)
  return one
}

/** Polls until `probe` gives something truthy; fails after `limit` ms. */
export async function until(what, probe, limit = 15_000) {
  const end = Date.now() + limit
  for (;;) {
    const value = await probe()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms`)
    await new Promise((resume) => setTimeout(resume, 50))
  }
}
