// Files of one sandbox: small ones there and back, a long list, how soon a watcher knows. Each beside Node's own `fs`.
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { Sandbox, order, tell, timed } from './client.mjs'

const [count, entries] = process.argv.slice(2).map(Number)
const box = await Sandbox.create({ timeoutMs: 1_800_000 })
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cay-files-'))
const text = 'x'.repeat(1024)

async function times(rounds, work) {
  const all = []
  for (let i = 0; i < rounds; i++) all.push(await timed(() => work(i)))
  return all
}

/** Milliseconds from the write to what the watcher says of it. */
function heard(listeners, name, write) {
  return timed(async () => {
    const told = new Promise((resolve) => listeners.set(name, resolve))
    await write()
    await told
    listeners.delete(name)
  })
}

async function small() {
  const there = async (i) => {
    await box.files.write(`small${i % 10}`, text)
    await box.files.read(`small${i % 10}`)
  }
  await times(count, there)
  const here = (i) => {
    fs.writeFileSync(path.join(folder, `small${i % 10}`), text)
    fs.readFileSync(path.join(folder, `small${i % 10}`), 'utf8')
  }
  return { there: await times(count, there), here: await times(count, async (i) => here(i)) }
}

/** The answer to a list, read by a client that does not look into it: the SDK takes longer to decode it than Cay to make it. */
function bytesOfList(agent) {
  const edge = new URL(process.env.E2B_SANDBOX_URL)
  const headers = {
    'Content-Type': 'application/json',
    'E2b-Sandbox-Id': box.sandboxId,
    'E2b-Sandbox-Port': '49983',
    'X-Access-Token': box.envdAccessToken ?? '',
  }
  const way = { host: edge.hostname, port: edge.port, method: 'POST', path: '/filesystem.Filesystem/ListDir', agent, headers }
  return new Promise((resolve, reject) => {
    const request = http.request(way, (answer) => {
      let length = 0
      answer.on('data', (piece) => (length += piece.length))
      answer.on('error', reject)
      answer.on('end', () => (answer.statusCode === 200 && length > entries ? resolve() : reject(new Error(`${answer.statusCode}`))))
    })
    request.on('error', reject).end(JSON.stringify({ path: '/home/user/many', depth: 1 }))
  })
}

async function list() {
  await box.commands.run(`mkdir many && cd many && touch $(seq ${entries})`)
  fs.mkdirSync(path.join(folder, 'many'))
  for (let i = 0; i < entries; i++) fs.writeFileSync(path.join(folder, 'many', `${i}`), '')
  const there = async () => {
    const found = await box.files.list('many')
    if (found.length !== entries) throw new Error(`${found.length} entries`)
  }
  const here = async () => fs.readdirSync(path.join(folder, 'many')).map((n) => fs.lstatSync(path.join(folder, 'many', n)))
  const agent = new http.Agent({ keepAlive: true })
  const bytes = () => bytesOfList(agent)
  await times(5, there)
  await times(15, bytes)
  const found = { there: await times(15, there), bytes: await times(15, bytes), here: await times(15, here) }
  agent.destroy()
  return found
}

async function watch() {
  const listeners = new Map()
  await box.files.makeDir('watched')
  const handle = await box.files.watchDir('watched', (event) => listeners.get(event.name)?.(), { timeoutMs: 0 })
  const host = new Map()
  const watcher = fs.watch(folder, (_, name) => host.get(name)?.())
  const there = []
  const here = []
  for (let i = 0; i < count; i++) {
    there.push(await heard(listeners, `w${i}`, () => box.files.write(`watched/w${i}`, text)))
    here.push(await heard(host, `w${i}`, async () => fs.writeFileSync(path.join(folder, `w${i}`), text)))
  }
  await handle.stop()
  watcher.close()
  return { there: there.slice(count / 2), here: here.slice(count / 2) }
}

try {
  tell({ small: await small(), list: await list(), watch: await watch() })
  await box.files.write('big', '')
  tell({
    up: await box.uploadUrl('big', { useSignatureExpiration: 3600 }),
    down: await box.downloadUrl('big', { useSignatureExpiration: 3600 }),
  })
  await order()
} finally {
  await box.kill()
  fs.rmSync(folder, { recursive: true })
}
process.exit(0)
