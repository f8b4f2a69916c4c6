// Sandboxes for tests.
import { after } from 'node:test'
import { Sandbox } from './client.mjs'

const made = []
after(() => Promise.all(made.map((one) => one.kill().catch(() => {}))))

/** A sandbox that ends with the test file, whatever happens. */
export async function sandbox(options = {}) {
  const one = await Sandbox.create({ timeoutMs: 120_000, ...options })
  made.push(one)
  return one
}
