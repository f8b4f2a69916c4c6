// Keeps the daemon busy through its crashes, and knows what it was told: counters that print, sandboxes that come and
// go, files that are written. Orders: `up` after a restart, `finish` at the end.
import { Sandbox, order, pause, tell, until } from './client.mjs'

const counters = Number(process.argv[2])
const wrong = []
const life = 3_600_000
// What a client leaves between two tries: these sixty share two cores with the daemon they wait for.
const RETRY = 250
let busy = true

// ---- counters: followed by the header that names an offset, and by the plain client --------------------------------

// Waits without a process of its own: twenty that start a hundred a second would be all there is to see.
const COUNT = 'exec 3<> <(:); i=0; while :; do i=$((i+1)); echo $i; read -t 0.01 -u 3; done'

async function counter() {
  const box = await Sandbox.create({ timeoutMs: life })
  const command = await box.commands.run(COUNT, { background: true, timeoutMs: 0 })
  command.disconnect().catch(() => {})
  const state = { box, pid: command.pid, text: '', clientText: '', clientBreaks: 0, written: 0 }
  state.follower = follow(state)
  state.client = followAsClient(state)
  state.writer = write(state)
  return state
}

function connect(box, pid, from, signal) {
  const message = Buffer.from(JSON.stringify({ process: { pid } }))
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, 5)
  return fetch(process.env.E2B_SANDBOX_URL + '/process.Process/Connect', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/connect+json',
      'Connect-Protocol-Version': '1',
      'E2b-Sandbox-Id': box.sandboxId,
      'E2b-Sandbox-Port': '49983',
      'X-Access-Token': box.envdAccessToken,
      'Cay-Output-From': `stdout=${from},stderr=0`,
    },
    body: frame,
    signal,
  })
}

/** Hands on what a command prints from an offset on, until `enough` says so or the connection is cut. */
async function read(box, pid, from, onText, enough) {
  const abort = new AbortController()
  try {
    const answer = await connect(box, pid, from, abort.signal)
    if (answer.status !== 200) throw new Error('status ' + answer.status)
    let bytes = Buffer.alloc(0)
    for await (const piece of answer.body) {
      bytes = Buffer.concat([bytes, piece])
      while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
        const size = bytes.readUInt32BE(1)
        const event = JSON.parse(bytes.subarray(5, 5 + size)).event
        onText(Buffer.from(event?.data?.stdout ?? '', 'base64').toString())
        bytes = bytes.subarray(5 + size)
      }
      if (enough()) return
    }
  } finally {
    abort.abort()
  }
}

async function follow(state) {
  while (busy) {
    try {
      await read(state.box, state.pid, state.text.length, (text) => (state.text += text), () => !busy)
    } catch {
      await pause(RETRY)
    }
  }
}

async function followAsClient(state) {
  while (busy) {
    try {
      const handle = await state.box.commands.connect(state.pid, {
        timeoutMs: 0,
        onStdout: (text) => (state.clientText += text),
      })
      await handle.wait()
    } catch {
      await pause(RETRY)
    }
  }
}

/** What a plain client got begins somewhere and may break at a cut; elsewhere it must not. */
function breaks(text) {
  const numbers = text.slice(text.indexOf('\n') + 1, text.lastIndexOf('\n')).split('\n').map(Number)
  return numbers.filter((n, i) => i > 0 && n !== numbers[i - 1] + 1).length
}

function check(name, text) {
  const numbers = text.slice(0, text.lastIndexOf('\n')).split('\n').map(Number)
  const at = numbers.findIndex((n, i) => n !== i + 1)
  if (at >= 0) wrong.push(`${name}: after ${numbers[at - 1]} came ${numbers[at]}`)
  return numbers.length
}

// ---- files -----------------------------------------------------------------------------------------------------

async function write(state) {
  for (let n = 1; busy; n++) {
    try {
      await state.box.files.write('/tmp/count', String(n))
      state.written = n
    } catch {
      await pause(RETRY)
    }
    await pause(200)
  }
}

// ---- a server and a terminal ---------------------------------------------------------------------------------------

const SERVER = "require('http').createServer((q, a) => a.end('still here')).listen(8000, '127.0.0.1')"

/** Both are started once; after every crash they must be the same ones. */
async function serve(state) {
  const server = await state.box.commands.run(`node -e "${SERVER}"`, { background: true, timeoutMs: 0 })
  server.disconnect().catch(() => {})
  const terminal = await state.box.pty.create({ cols: 80, rows: 24, timeoutMs: 0, onData: () => {} })
  await state.box.pty.sendInput(terminal.pid, Buffer.from('SECRET=kept\n'))
  terminal.disconnect().catch(() => {})
  state.terminal = terminal.pid
}

async function asksServer({ box }) {
  const answer = await fetch(process.env.E2B_SANDBOX_URL, {
    headers: { 'E2b-Sandbox-Id': box.sandboxId, 'E2b-Sandbox-Port': '8000' },
  })
  return (await answer.text()) === 'still here'
}

async function asksTerminal({ box, terminal }) {
  let heard = ''
  const handle = await box.pty.connect(terminal, { timeoutMs: 0, onData: (data) => (heard += Buffer.from(data)) })
  handle.wait().catch(() => {})
  await box.pty.sendInput(terminal, Buffer.from('echo =$SECRET=\n'))
  await until('the terminal', () => heard.includes('=kept='), 10_000)
  await handle.disconnect()
  return true
}

// ---- creates and kills ---------------------------------------------------------------------------------------------

const living = new Map()
const killed = new Set()
const shortLived = new Set()
let created = 0
let failed = 0

// Creates and kills that are not answered yet.
const underWay = new Set()

function track(work) {
  underWay.add(work)
  work.finally(() => underWay.delete(work))
}

async function come() {
  try {
    const short = created % 10 === 0
    const box = await Sandbox.create({ timeoutMs: short ? 1500 : life, metadata: { churn: 'yes' } })
    created++
    if (short) return void shortLived.add(box.sandboxId)
    living.set(box.sandboxId, box)
    setTimeout(() => track(go(box)), 4000)
  } catch {
    failed++
  }
}

async function go(box) {
  let asked = false
  while (busy) {
    try {
      if (!asked) await box.commands.run('true')
      asked = true
      await Sandbox.kill(box.sandboxId)
      living.delete(box.sandboxId)
      killed.add(box.sandboxId)
      return
    } catch (e) {
      // After a kill whose answer was cut, it may be gone.
      if (!asked && (e.name === 'NotFoundError' || e.name === 'SandboxNotFoundError')) {
        wrong.push(`${box.sandboxId} was acknowledged and is gone`)
        living.delete(box.sandboxId)
        return
      }
      await pause(RETRY)
    }
  }
}

async function listAll() {
  const ids = []
  for (const pages = Sandbox.list(); pages.hasNext; ) ids.push(...(await pages.nextItems()))
  return ids
}

// --------------------------------------------------------------------------------------------------------------------

const all = await Promise.all(Array.from({ length: counters }, counter))
await until('all counters', () => all.every((one) => one.text.length > 100))
const hosts = all.slice(0, 3)
await Promise.all(hosts.map(serve))
for (const host of hosts) await until('the server', () => asksServer(host).catch(() => false))
const churn = setInterval(() => track(come()), 200)
tell({ ready: true })

for (let said = await order(); said === 'up'; said = await order()) {
  await Promise.all(all.map((one) => until('an answer', () => one.box.commands.run('true').then(() => true, () => false), 60_000)))
  tell({ created, failed })
  for (const [i, host] of hosts.entries()) {
    if (!(await asksServer(host).catch(() => false))) wrong.push(`the server in sandbox ${i} is gone`)
    if (!(await asksTerminal(host).catch(() => false))) wrong.push(`the terminal in sandbox ${i} is gone`)
  }
  tell({ checked: true })
}

clearInterval(churn)
await pause(3000)
busy = false
await Promise.all(underWay)
await Promise.all(all.map((one) => Promise.all([one.follower, one.writer])))
let numbers = 0
for (const [i, one] of all.entries()) {
  numbers += check(`counter ${i}`, one.text)
  let again = ''
  await read(one.box, one.pid, 0, (text) => (again += text), () => again.length >= one.text.length)
  check(`counter ${i}, read again`, again)
  if (!again.startsWith(one.text.slice(0, again.length))) wrong.push(`counter ${i}: read again it says something else`)
  const count = Number(await one.box.files.read('/tmp/count'))
  if (count < one.written) wrong.push(`sandbox ${i}: write ${one.written} was acknowledged, the file says ${count}`)
}
const listed = (await listAll()).map((box) => box.sandboxId)
const twice = listed.filter((id, i) => listed.indexOf(id) !== i)
if (twice.length) wrong.push('listed twice: ' + twice)
for (const id of [...living.keys(), ...all.map((one) => one.box.sandboxId)]) {
  if (!listed.includes(id)) wrong.push(`${id} was acknowledged and is not listed`)
}
for (const id of shortLived) if (listed.includes(id)) wrong.push(`${id} should have timed out`)
for (const id of killed) if (listed.includes(id)) wrong.push(`${id} was killed and is listed`)
const unknown = listed.filter((id) => !living.has(id) && !all.some((one) => one.box.sandboxId === id))
if (unknown.length > failed) wrong.push(`${unknown.length} sandboxes that nobody asked for`)
tell({
  wrong: wrong.slice(0, 50),
  listed,
  numbers,
  created,
  failed,
  written: all.reduce((sum, one) => sum + one.written, 0),
  clientBreaks: all.reduce((sum, one) => sum + breaks(one.clientText), 0),
})
await order()
