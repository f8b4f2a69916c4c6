// Sandboxes for tests.
import { after } from 'node:test'
import { observe } from './cases.mjs'
import { Sandbox } from './client.mjs'

const made = []
after(() => Promise.all(made.map((one) => one.kill().catch(() => {}))))

/** A sandbox that ends with the test file, whatever happens. */
export async function sandbox(options = {}) {
  const one = await Sandbox.create({ timeoutMs: 600_000, ...options })
  made.push(one)
  observe(one)
  return one
}

/** The same, of which every class of the client is known from the start, also that of its commands' handles. */
export async function knownSandbox(options) {
  const one = await sandbox(options)
  await one.commands.run('true', { background: true })
  return one
}
