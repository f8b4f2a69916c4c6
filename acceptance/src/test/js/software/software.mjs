// The package under test, whichever the harness installed.
import { createRequire } from 'node:module'

export const require = createRequire(process.env.CAY_CLIENT + '/package.json')

/** Polls until `probe` gives something truthy; fails after `limit` ms, which no busy machine needs. */
export async function until(what, probe, limit = 120_000) {
  const end = Date.now() + limit
  for (;;) {
    const value = await probe().catch(() => undefined)
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms`)
    await new Promise((resume) => setTimeout(resume, 200))
  }
}

/** Some packages keep connections and timers. */
export function done() {
  console.log('all good')
  process.exit(0)
}
