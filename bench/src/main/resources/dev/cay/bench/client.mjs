// What every script needs: the client, orders from the harness, answers to it.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(process.env.CAY_CLIENT + '/package.json')
export const e2b = require('e2b')
export const { Sandbox } = e2b

const orders = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
/** The harness's next order. */
export const order = async () => (await orders.next()).value

/** Tells the harness something. */
export const tell = (what) => process.stdout.write(JSON.stringify(what) + '\n')

/** Milliseconds that `work` took. */
export async function timed(work) {
  const began = performance.now()
  await work()
  return performance.now() - began
}

export const pause = (ms) => new Promise((resume) => setTimeout(resume, ms))

/** Polls until `probe` gives something truthy; fails after `limit` ms. */
export async function until(what, probe, limit = 15_000) {
  const end = Date.now() + limit
  for (;;) {
    const value = await probe()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms`)
    await pause(50)
  }
}

/** `work(i)` for i from 0 to count - 1, so many at a time. */
export async function atOnce(count, width, work) {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, worker))
}
