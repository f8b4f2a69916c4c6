// Sandboxes for tests, to run code in.
import { after } from 'node:test'
import { note } from '../cases.mjs'
import { Sandbox } from './client.mjs'

const made = []
after(() => Promise.all(made.map((one) => one.kill().catch(() => {}))))

/** A sandbox that ends with the test file, whatever happens. Its requests may take as long as on a busy machine. */
export async function sandbox(options = {}) {
  return keep(await Sandbox.create({ timeoutMs: 900_000, requestTimeoutMs: 180_000, ...options }))
}

/** Sees to it that a sandbox made otherwise ends as well. */
export function keep(one) {
  made.push(one)
  note('Sandbox', one)
  return one
}
