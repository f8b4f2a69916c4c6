// Many sandboxes that sleep and are wanted all at once. Orders: `traffic COUNT`, `load COUNT`; each makes its
// sandboxes, does its work, looks into every one of them, and kills them. Lines with `step` tell how far it is, the last
// one has what came of it.
//
// Arguments: the directory of the platform, the address of its API, `frozen` or `disk`: where a paused sandbox is when it
// is wanted.
import { existsSync, readdirSync } from 'node:fs'
import { Sandbox, atOnce, order, tell, timed, until } from './client.mjs'

const [, , directory, apiUrl, from] = process.argv
const LIFE = 3_600_000
const LIMIT = 60_000
const PORT = 8000
/** Making sandboxes is not what is shown here. */
const MAKERS = 4
/** So many are paused and resumed at a time. */
const WIDTH = 16
/** Every so many are asked for by several clients at once. */
const POPULAR = 5
const CLIENTS = 5

// Whoever is asked counts it, and looks through all it remembers: an answer is right only if nothing of that is lost,
// changed or another's, and no request came twice.
const SERVER = `
import hashlib, http.server, json, os, sys
kept, secret, asked = os.urandom(2 << 20), os.urandom(8).hex(), 0

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        body = json.dumps(dict(id=sys.argv[1], secret=secret, kept=hashlib.md5(kept).hexdigest(), asked=asked)).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored):
        pass

class Server(http.server.HTTPServer):
    request_queue_size = 64

Server(('127.0.0.1', ${PORT}), Answers).serve_forever()
`

let wrong = []

async function get(box) {
  const answer = await fetch(`https://${box.getHost(PORT)}/`, { signal: AbortSignal.timeout(LIMIT) })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}

/** One that serves, and what it must answer from then on. */
async function moveIn() {
  const box = await Sandbox.create({ timeoutMs: LIFE, lifecycle: { onTimeout: 'pause', autoResume: true } })
  await box.files.write('/home/user/server.py', SERVER)
  const handle = await box.commands.run(`exec python3 server.py ${box.sandboxId}`, { background: true, timeoutMs: 0 })
  handle.disconnect().catch(() => {})
  const first = await until('a server', () => get(box).catch(() => null), LIMIT)
  if (first.id !== box.sandboxId) wrong.push(`${box.sandboxId}: ${first.id} answers for it`)
  return { box, id: box.sandboxId, first, asked: first.asked, pauses: 0 }
}

async function moveAllIn(count) {
  const all = []
  await atOnce(count, MAKERS, async () => {
    all.push(await moveIn())
    if (all.length % 50 === 0) tell({ step: `${all.length} sandboxes with a server each` })
  })
  return all
}

/** So many requests at once; each is served once, by the one who was there before. */
async function ask(one, requests = 1) {
  const answers = await Promise.all(Array.from({ length: requests }, () => get(one.box)))
  const numbers = answers.map((answer) => answer.asked).sort((a, b) => a - b)
  const expected = answers.map((_, i) => one.asked + 1 + i)
  if (`${numbers}` !== `${expected}`) wrong.push(`${one.id}: asked ${expected}, it counted ${numbers}`)
  one.asked += requests
  for (const { id, secret, kept } of answers) {
    if (id !== one.id || secret !== one.first.secret || kept !== one.first.kept) {
      wrong.push(`${one.id}: answered by ${id} ${secret} ${kept}, not by ${one.first.secret} ${one.first.kept}`)
    }
  }
}

/** What fails in one is said, and the others go on. */
const attempt = (one, what, work) => work().catch((e) => wrong.push(`${one.id}: ${what}: ${e.cause ?? e.message}`))

const headers = { 'X-API-Key': process.env.E2B_API_KEY }
const isSaved = async (one) => {
  const answer = await fetch(`${apiUrl}/sandboxes/${one.id}`, { headers })
  return (await answer.json()).paused?.durability?.state === 'saved'
}
const isGone = (one) => !existsSync(`${directory}/state/pool/sandboxes/${one.id}`)

/** Paused, saved, and where it is wanted from. */
const settled = (one) =>
  from === 'disk'
    ? until('the original to go', () => isGone(one), 4 * LIMIT)
    : until('the save', () => isSaved(one), 4 * LIMIT, 200)

/** One that runs needs nothing of what was saved of it. */
const unburdened = (one) =>
  until(
    'what was saved of it to go',
    () => !readdirSync(`${directory}/state/pool/snapshots`).some((name) => name.startsWith(one.id + '.')),
    LIMIT,
  )

async function events(one, type) {
  const address = `${apiUrl}/events/sandboxes/${one.id}?limit=100&types=sandbox.lifecycle.${type}`
  const answer = await fetch(address, { headers })
  return (await answer.json()).length
}

/** Each slept as often as it was sent to sleep, and was woken once each time. */
async function checkEvents(one) {
  const [paused, resumed] = [await events(one, 'paused'), await events(one, 'resumed')]
  if (paused !== one.pauses || resumed !== one.pauses) {
    wrong.push(`${one.id}: paused ${paused} and resumed ${resumed} times, not ${one.pauses}`)
  }
}

/** In the end each is asked once more, then goes. */
async function leave(all) {
  await atOnce(all.length, MAKERS, async (i) => {
    await attempt(all[i], 'afterwards', () => ask(all[i]))
    await attempt(all[i], 'its events', () => checkEvents(all[i]))
    await attempt(all[i], 'its images', () => unburdened(all[i]))
  })
  await atOnce(all.length, MAKERS, (i) => attempt(all[i], 'kill', () => all[i].box.kill()))
}

/** All fall asleep at once as their time is over, and all are asked for at once. */
async function traffic(count) {
  const all = await moveAllIn(count)
  const slept = await timed(async () => {
    await Promise.all(all.map((one) => attempt(one, 'setTimeout', () => one.box.setTimeout(1_000))))
    await Promise.all(all.map((one) => attempt(one, 'falling asleep', () => settled(one))))
  })
  all.forEach((one) => one.pauses++)
  tell({ step: `${count} paused by themselves in ${(slept / 1000).toFixed(1)} s` })
  const each = []
  let requests = 0
  const woken = await timed(() =>
    Promise.all(
      all.map(async (one, i) => {
        const clients = i % POPULAR === 0 ? CLIENTS : 1
        requests += clients
        each.push(await timed(() => attempt(one, 'waking', () => ask(one, clients))))
      }),
    ),
  )
  await leave(all)
  return { slept, woken, each, requests }
}

/** Half have settled before they are wanted again, half maybe not; half are woken by a request. */
async function cycle(one, i, times) {
  times.pause.push(await timed(() => Sandbox.pause(one.id, { requestTimeoutMs: LIMIT })))
  one.pauses++
  if (i % 4 < 2) await settled(one)
  const byTraffic = i % 2 === 0
  const resume = async () => {
    if (!byTraffic) await Sandbox.connect(one.id, { timeoutMs: LIFE, requestTimeoutMs: LIMIT })
    await ask(one)
  }
  times[byTraffic ? 'byTraffic' : 'byConnect'].push(await timed(resume))
}

async function load(count) {
  const all = await moveAllIn(count)
  tell({ step: 'all are there' })
  const times = { pause: [], byTraffic: [], byConnect: [] }
  let done = 0
  const took = await timed(() =>
    atOnce(count, WIDTH, async (i) => {
      await attempt(all[i], 'pause and resume', () => cycle(all[i], i, times))
      if (++done % 50 === 0) tell({ step: `${done} paused and resumed, ${wrong.length} wrong` })
    }),
  )
  tell({ step: 'all were paused and resumed' })
  await leave(all)
  return { took, ...times }
}

for (let said = await order(); said; said = await order()) {
  const [what, count] = said.split(' ')
  const found = await { traffic, load }[what](Number(count))
  tell({ done: true, ...found, wrong })
  wrong = []
}
process.exit(0)
