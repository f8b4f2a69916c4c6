// One sandbox full of life that is paused and resumed again and again. Orders: `pause`, `up` after a crash,
// `resume`, `fork`, `finish`; after a resume everybody inside is asked whether all is as it was.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Sandbox, order, tell, timed, until } from './client.mjs'

const [, , residents, runtime] = process.argv
const LIFE = 3_600_000
const CLOCK_SECONDS = 2
const decode = (data) => new TextDecoder().decode(data)
const encode = (text) => new TextEncoder().encode(text)

let box
let wrong = []
/** What there is to be true after the next resume; a fork has a copy of its own. */
let known

// ---- moving in -----------------------------------------------------------------------------------------------------

const SERVER = `
  let asked = 0
  require('http').createServer((q, a) => a.end(JSON.stringify({ pid: process.pid, asked: ++asked }))).listen(8001, '127.0.0.1')`
const LINES = 'i=0; while :; do i=$((i+1)); echo $i >> /tmp/residents/lines; sleep 0.05; done'
const COUNT = 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.03; done'

async function background(command) {
  const handle = await box.commands.run(command, { background: true, timeoutMs: 0 })
  handle.disconnect().catch(() => {})
  return handle.pid
}

/** Its end would be noticed, and how it came. */
const resident = (role) =>
  background(`exec 2>> /tmp/residents/errors; python3 /tmp/residents/residents.py ${role}; echo "${role} ended with $?" >&2`)

async function terminal(onData) {
  return box.pty.create({ cols: 80, rows: 24, timeoutMs: 0, onData })
}

async function orphan() {
  const said = await box.commands.run('sleep 9999 > /dev/null 2>&1 & echo $!')
  return Number(said.stdout)
}

/** One that still has the pipes of the command that started it, which is therefore not over for its reader. */
async function orphanWithPipes() {
  const handle = await box.commands.run('sleep 9997 & echo $!', { background: true, timeoutMs: 0 })
  await until('the orphan', () => handle.stdout.includes('\n'))
  handle.disconnect().catch(() => {})
  return Number(handle.stdout)
}

/** What was started in a terminal that has been closed. */
async function terminalOrphan() {
  let heard = ''
  const shell = await terminal((data) => (heard += decode(data)))
  await box.pty.sendInput(shell.pid, encode('nohup sleep 9998 > /dev/null 2>&1 & disown; echo pid=$!=; exit\n'))
  await shell.wait().catch(() => {})
  return Number(/pid=(\d+)=/.exec(heard)[1])
}

async function shellWithVariables() {
  let heard = ''
  const shell = await terminal((data) => (heard += decode(data)))
  await box.pty.sendInput(shell.pid, encode('SECRET=kept; TURN=0; echo re""ady\n'))
  await until('the terminal', () => heard.includes('ready'))
  shell.disconnect().catch(() => {})
  return shell.pid
}

async function moveIn() {
  box = await Sandbox.create({ timeoutMs: LIFE })
  await box.files.write('/tmp/residents/residents.py', readFileSync(residents, 'utf8'))
  if (runtime) {
    await box.files.write('/tmp/residents/java.tar', new Blob([readFileSync(runtime)]))
    await box.commands.run('cd /tmp/residents && tar xf java.tar && rm java.tar')
    await background('exec /tmp/residents/java/bin/java -Xmx64m -cp /tmp/residents/java/classes dev.cay.prove.JavaResident')
  } else {
    await background(`exec node -e "${SERVER.replace('8001', '8002')}"`)
  }
  for (const role of ['memory', 'web', 'locks', 'rows']) await resident(role)
  await until('the web server', () => box.commands.run('curl -sf http://127.0.0.1:8000/').then(() => true, () => false))
  await resident('caller')
  await background(`exec node -e "${SERVER}"`)
  await background(LINES)
  const pids = [await orphan(), await orphanWithPipes(), await terminalOrphan()]
  known = {
    pids, commands: [], asked: {}, files: [], read: 0, rows: 0, lines: 0, random: '', turn: 0,
    shell: await shellWithVariables(),
    counter: await background(COUNT),
  }
  await until('the residents', async () => {
    const seen = await look(box, known).catch(() => null)
    return seen && ['memory', 'child', 'caller', 'locks', 'rows', 'lines'].every((name) => !seen[name].error)
  }, 60_000)
  for (const port of [8001, 8002]) await until('a server', () => visit(box, port).catch(() => null), 60_000)
  // What they are now is what they must be ever after.
  const seen = await look(box, known)
  known.memory = seen.memory
  known.child = seen.child
  known.caller = seen.caller
  known.locks = seen.locks
  known.rowsPid = seen.rows.pid
  known.processes = seen.processes
  for (const port of [8001, 8002]) known.asked[port] = await visit(box, port)
}

// ---- asking --------------------------------------------------------------------------------------------------------

async function look(one, { pids }) {
  return JSON.parse((await one.commands.run(`python3 /tmp/residents/residents.py look ${pids.join(' ')}`)).stdout)
}

async function visit(one, port) {
  const answer = await fetch(process.env.E2B_SANDBOX_URL, {
    headers: { 'E2b-Sandbox-Id': one.sandboxId, 'E2b-Sandbox-Port': `${port}` },
  })
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
  return answer.json()
}

/** Says what differs as `path: was → is`. */
function differs(name, was, is) {
  return JSON.stringify(was) === JSON.stringify(is) ? [] : [`${name}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`]
}

async function residentsAreTheSame(one, now) {
  const before = Date.now() / 1000
  const seen = await look(one, now)
  const after = Date.now() / 1000
  const found = [
    ...differs('memory', now.memory, seen.memory),
    ...differs('shared memory', now.child, seen.child),
    ...differs('keep-alive connection', { ...now.caller, asked: now.caller.asked + 1 }, seen.caller),
    ...differs('orphans', now.processes, seen.processes),
    ...differs('locks', now.locks, seen.locks),
    ...differs('errors of residents', '', seen.errors),
    ...differs('host name', one.sandboxId, seen.hostname),
    ...differs('sqlite', { mode: 'wal', integrity: 'ok', whole: true, pid: now.rowsPid }, { ...seen.rows, count: undefined }),
  ]
  if (!(seen.rows.count > now.rows)) found.push(`sqlite: rows stand at ${now.rows} → ${seen.rows.count}`)
  if (seen.lines.wrong !== null) found.push(`appended lines: ${seen.lines.wrong ?? seen.lines.error}`)
  if (!(seen.lines.count > now.lines)) found.push(`appended lines: stand at ${now.lines} → ${seen.lines.count}`)
  if (seen.time < before - CLOCK_SECONDS || seen.time > after + CLOCK_SECONDS) {
    found.push(`clock: ${seen.time} inside, ${before} to ${after} outside`)
  }
  if (seen.random === now.random) found.push('/dev/urandom repeats itself')
  Object.assign(now, { caller: seen.caller, rows: seen.rows.count, lines: seen.lines.count, random: seen.random })
  return found
}

async function serversAreTheSame(one, now) {
  const found = []
  for (const [port, was] of Object.entries(now.asked)) {
    const is = await visit(one, port)
    found.push(...differs(`server on ${port}`, { ...was, asked: was.asked + 1 }, is))
    now.asked[port] = is
  }
  return found
}

async function shellIsTheSame(one, now) {
  let heard = ''
  const turn = now.turn + 1
  const handle = await one.pty.connect(now.shell, { timeoutMs: 0, onData: (data) => (heard += decode(data)) })
  handle.wait().catch(() => {})
  await one.pty.sendInput(now.shell, encode('echo =$SECRET=$((++TURN))=\n'))
  await until(`the terminal's turn ${turn}`, () => heard.includes(`=kept=${turn}=`)).finally(() => handle.disconnect())
  now.turn = turn
  return []
}

async function filesAreTheSame(one, now, all) {
  const found = []
  const chosen = all ? now.files : [now.files.at(-1), now.files[Math.floor(Math.random() * now.files.length)]]
  for (const { path, content } of chosen.filter(Boolean)) {
    const is = Buffer.from(await one.files.read(path, { format: 'bytes' }))
    if (!is.equals(content)) found.push(`${path} is not what was written`)
  }
  return found
}

// ---- output --------------------------------------------------------------------------------------------------------

/** Hands on what a command prints from an offset on, until `enough` says so. */
async function read(one, pid, from, onText, enough) {
  const message = Buffer.from(JSON.stringify({ process: { pid } }))
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, 5)
  const abort = new AbortController()
  const limit = setTimeout(() => abort.abort(), 30_000)
  try {
    const answer = await fetch(process.env.E2B_SANDBOX_URL + '/process.Process/Connect', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/connect+json',
        'Connect-Protocol-Version': '1',
        'E2b-Sandbox-Id': one.sandboxId,
        'E2b-Sandbox-Port': '49983',
        'X-Access-Token': one.envdAccessToken,
        'Cay-Output-From': `stdout=${from},stderr=0`,
      },
      body: frame,
      signal: abort.signal,
    })
    if (answer.status !== 200) throw new Error(`status ${answer.status}`)
    let bytes = Buffer.alloc(0)
    for await (const piece of answer.body) {
      bytes = Buffer.concat([bytes, piece])
      while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
        const size = bytes.readUInt32BE(1)
        onText(Buffer.from(JSON.parse(bytes.subarray(5, 5 + size)).event?.data?.stdout ?? '', 'base64').toString())
        bytes = bytes.subarray(5 + size)
      }
      if (enough()) return
    }
    throw new Error('the output ended')
  } finally {
    clearTimeout(limit)
    abort.abort()
  }
}

/** What the numbers from 1 on are, as text. */
const NUMBERS = { text: '', last: 0 }
function numbers(length) {
  while (NUMBERS.text.length < length) NUMBERS.text += `${++NUMBERS.last}\n`
  return NUMBERS.text.slice(0, length)
}

function checkNumbers(text, from) {
  const should = numbers(from + text.length).slice(from)
  if (text === should) return []
  const at = [...text].findIndex((c, i) => c !== should[i])
  return [`output from byte ${from}: at ${at} came ${JSON.stringify(text.slice(Math.max(0, at - 12), at + 12))}`]
}

async function outputIsWhole(one, now) {
  let text = ''
  // So much more that some of it was surely printed after the resume.
  const from = now.read
  await read(one, now.counter, from, (more) => (text += more), () => text.length > 40 && Date.now() > now.resumedAt + 500)
  now.read = from + text.length
  return checkNumbers(text, from)
}

/** What the plain client gets begins somewhere; from there on nothing may be missing. */
async function clientFollows(one, now) {
  let text = ''
  const handle = await one.commands.connect(now.counter, { timeoutMs: 0, onStdout: (more) => (text += more) })
  handle.wait().catch(() => {})
  await until('output for the client', () => text.length > 40).finally(() => handle.disconnect())
  const lines = text.slice(text.indexOf('\n') + 1, text.lastIndexOf('\n')).split('\n').map(Number)
  const at = lines.findIndex((n, i) => i > 0 && n !== lines[i - 1] + 1)
  return at < 0 ? [] : [`output for the client: after ${lines[at - 1]} came ${lines[at]}`]
}

// ---- cycles --------------------------------------------------------------------------------------------------------

async function check(one, now) {
  const found = []
  for (const ask of [residentsAreTheSame, serversAreTheSame, shellIsTheSame, filesAreTheSame, outputIsWhole, clientFollows]) {
    try {
      found.push(...(await ask(one, now)))
    } catch (e) {
      found.push(`${ask.name}: ${e.name}: ${e.message.split('\n')[0]}`)
    }
  }
  return found
}

const orders = {
  async pause() {
    const path = `/home/user/round-${known.files.length}`
    const content = randomBytes(1 + Math.floor(Math.random() * 200_000))
    await box.files.write(path, new Blob([content]))
    known.files.push({ path, content })
    const took = await timed(async () => {
      if (!(await box.pause({ keepMemory: true }))) wrong.push('pause says that it was paused already')
    })
    return { took }
  },
  async up() {
    await until('the daemon', () => Sandbox.list().nextItems().then(() => true, () => false), 60_000)
    return {}
  },
  async resume() {
    const took = await timed(async () => {
      box = await Sandbox.connect(box.sandboxId, { timeoutMs: LIFE })
    })
    known.resumedAt = Date.now()
    wrong.push(...(await check(box, known)))
    return { took, rows: known.rows, lines: known.lines, read: known.read }
  },
  async fork() {
    let fork
    const took = await timed(async () => ([fork] = await box.fork({ count: 1 })))
    if (fork instanceof Error) throw fork
    const copy = structuredClone({ ...known, files: [], resumedAt: Date.now() })
    copy.files = known.files
    wrong.push(...(await check(fork, copy)).map((line) => `in the fork: ${line}`))
    await fork.kill()
    wrong.push(...(await check(box, known)).map((line) => `after the fork: ${line}`))
    return { took }
  },
  async finish() {
    wrong.push(...(await filesAreTheSame(box, known, true)))
    let text = ''
    await read(box, known.counter, 0, (more) => (text += more), () => text.length >= known.read)
    wrong.push(...checkNumbers(text, 0))
    await box.kill()
    return { rows: known.rows, lines: known.lines, numbers: NUMBERS.last, files: known.files.length }
  },
}

await moveIn()
tell({ sandbox: box.sandboxId })
for (let said = await order(); said; said = await order()) {
  wrong = []
  try {
    tell({ ...(await orders[said]()), wrong })
  } catch (e) {
    tell({ wrong: [...wrong, `${said}: ${e.name}: ${e.message}`], broken: true })
  }
}
