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

/** Polls every so many ms until `probe` gives something truthy; fails after `limit` ms. */
export async function until(what, probe, limit = 15_000, every = 50) {
  const end = Date.now() + limit
  for (;;) {
    const value = await probe()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms`)
    await pause(every)
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

// Answers each line in /tmp/ask with the sum of one byte of every page it holds.
const HOLDER = `
import os
kept = [os.urandom(1 << 20) for _ in range(MEBIBYTES)]
os.mkfifo('/tmp/ask')
os.mkfifo('/tmp/answer')
print('held', flush=True)
while True:
    open('/tmp/ask').read()
    open('/tmp/answer', 'w').write(str(sum(sum(part[::4096]) for part in kept)))
`

/**
 * Starts a process in a sandbox that has so much memory of its own, no page like another. The result is a function that
 * lets it read every page, and gives a sum that is the same as long as no page changes.
 */
export async function hold(box, mebibytes) {
  await box.files.write('/tmp/holder.py', HOLDER.replace('MEBIBYTES', mebibytes))
  const handle = await box.commands.run('exec python3 /tmp/holder.py', { background: true, timeoutMs: 0 })
  await until('its memory', () => handle.stdout.includes('held'), 120_000)
  handle.disconnect().catch(() => {})
  return async (here) => (await here.commands.run('echo > /tmp/ask; cat /tmp/answer', { timeoutMs: 120_000 })).stdout
}
