// The client under test, whichever version the harness installed.
import diagnostics from 'node:diagnostics_channel'
import { createRequire } from 'node:module'

export const require = createRequire(process.env.CAY_CLIENT + '/package.json')
export const e2b = require('e2b')
export const { Sandbox } = e2b

const [major, minor] = require('e2b/package.json').version.split('.').map(Number)
/** Whether the client is at least this version: some methods came later. */
export const atLeast = (a, b) => major > a || (major === a && minor >= b)

/** For cases about what Cay does behind the calls. They are the same for all clients and take long: one client runs them. */
export const deep = (test) => (process.env.CAY_SURFACE ? () => {} : test)

/** A client only says that its fetch failed; this says why. */
function tellWhatBreaks({ request, connectParams, error }) {
  const what = request ? `${request.method} ${request.origin}${request.path}` : `connecting to ${connectParams.host}`
  console.log(`broken: ${what}: ${error.code ?? error.name} ${error.message}`)
}
// What other scripts print is read line by line.
if (process.argv[1].endsWith('.test.mjs'))
  for (const channel of ['undici:request:error', 'undici:client:connectError']) diagnostics.subscribe(channel, tellWhatBreaks)

/** Polls until `probe` gives something truthy; fails after `limit` ms, which no busy machine needs. */
export async function until(what, probe, limit = 120_000) {
  const end = Date.now() + limit
  for (;;) {
    const value = await probe()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms`)
    await new Promise((resume) => setTimeout(resume, 50))
  }
}
