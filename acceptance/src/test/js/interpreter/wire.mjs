// The interpreter's port without a client between: one connection for each request, every byte to be seen.
import http from 'node:http'
import https from 'node:https'

const PORT = 49999

/** Sends a request; the answer is given when its head is there. Headers that are null are left out. */
export function call(box, method, path, { body, headers = {} } = {}) {
  const base = process.env.E2B_SANDBOX_URL ?? `https://${box.getHost(PORT)}`
  const all = {
    'Content-Type': 'application/json',
    'E2b-Sandbox-Id': box.sandboxId,
    'E2b-Sandbox-Port': `${PORT}`,
    'E2B-Traffic-Access-Token': box.trafficAccessToken ?? null,
    'X-Access-Token': box.envdAccessToken ?? null,
    ...headers,
  }
  const url = new URL(path, base)
  const options = { method, agent: false, headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, options, resolve)
    request.on('error', reject)
    request.end(typeof body === 'object' ? JSON.stringify(body) : body)
  })
}

/** The same with the whole answer. */
export async function ask(box, method, path, options) {
  const answer = await call(box, method, path, options)
  return { status: answer.statusCode, headers: answer.headers, body: (await bytes(answer)).toString() }
}

async function bytes(answer) {
  const pieces = []
  for await (const piece of answer) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Runs a cell; gives its lines, parsed, and what was sent for them. */
export async function execute(box, cell, headers) {
  const answer = await call(box, 'POST', '/execute', { body: typeof cell === 'string' ? { code: cell } : cell, headers })
  const raw = await bytes(answer)
  return { status: answer.statusCode, headers: answer.headers, raw, lines: parse(raw) }
}

/** Every line, none of which may be blank, and all of which end. */
export function parse(raw) {
  const lines = raw.toString('latin1').split('\n')
  if (lines.pop() !== '') throw new Error(`the last line does not end: ${raw.subarray(-200)}`)
  return lines.map((line) => JSON.parse(line))
}

export const ofType = (lines, type) => lines.filter((line) => line.type === type)
