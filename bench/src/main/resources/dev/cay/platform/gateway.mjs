// Agents that use MCP servers through the gateways of their sandboxes, each with a client of its own; and the same on the
// host, where clients speak with servers themselves.
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Sandbox, atOnce, order, pause, tell, timed } from './client.mjs'

const require = createRequire(process.env.CAY_MCP_CLIENT + '/')
const load = async (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + path)).href)
const { Client } = await load('client/index.js')
const { StdioClientTransport } = await load('client/stdio.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')

const LIFE = 900_000
/** Calls before those that are measured. */
const WARMTH = 3200
/** Calls after which the daemon has compiled what it does for each of them. */
const DAEMON_WARMTH = 15_000
/** For a call, on a machine that has much else to do. */
const PATIENCE = { timeout: 300_000 }
const FETCH_LIMIT = 600_000

async function client(transport) {
  const made = new Client({ name: 'bench', version: '1' })
  await made.connect(transport)
  return made
}

/** The gateway's address and token. Without TLS, as the handshakes of a thousand calls would be most of what they take. */
async function gatewayOf(box) {
  const url = new URL(box.getMcpUrl().replace(/^https:/, 'http:'))
  url.port = new URL(process.env.E2B_API_URL).port
  return { url, headers: { Authorization: `Bearer ${await box.getMcpToken()}` } }
}

async function overHttp({ url, headers }) {
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } })
  const made = await client(transport)
  // The client leaves its session behind, and a server has only so many.
  const leave = () => transport.terminateSession().then(() => made.close())
  return Object.assign(Object.create(made), { close: leave })
}

const throughGateway = async (box) => overHttp(await gatewayOf(box))

const onPipe = (program) => client(new StdioClientTransport({ command: program[0], args: program.slice(1), stderr: 'ignore' }))

const textOf = (result) => result.content.map((part) => part.text).join('')

/**
 * So many agents with so many calls each, all at once: servers answer when all calls of an agent are there. No two calls
 * have the same text, so no answer fits another's.
 */
async function agents(count, calls, pause) {
  const boxes = []
  await atOnce(count, 4, async () => boxes.push(await Sandbox.create({ mcp: { echo: {} }, timeoutMs: LIFE })))
  const clients = await Promise.all(boxes.map(throughGateway))
  const names = await Promise.all(clients.map(async (one) => (await one.listTools()).tools[0].name))
  tell({ memory: sides(boxes) })
  await order()
  const failures = []
  let right = 0
  const call = async (agent, n) => {
    const text = `agent ${agent} call ${n}`
    try {
      const request = { name: names[agent], arguments: { text, together: calls, pause } }
      const said = textOf(await clients[agent].callTool(request, undefined, PATIENCE))
      if (said === text) right++
      else failures.push(`${text} was answered: ${said}`)
    } catch (failure) {
      failures.push(`${text}: ${failure.message}`)
    }
  }
  const all = Array.from({ length: count * calls }, (_, n) => [n % count, Math.floor(n / count)])
  const took = await timed(() => Promise.all(all.map(([agent, n]) => call(agent, n))))
  tell({ seconds: took / 1000, right, failures })
  await order()
  // Clients do not take their leave: what they have must end with the sandboxes.
  await Promise.all(boxes.map((box) => box.kill()))
  tell({ killed: true })
}

/** Of a process, empty when it has ended. */
function about(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Megabytes that a process has for itself. */
const ownMemory = (pid) =>
  [...about(pid, 'smaps_rollup').matchAll(/^Private_\w+: +(\d+) kB$/gm)].reduce((sum, [, kB]) => sum + kB / 1024, 0)

/** What each of the servers' sandboxes of these has. Their groups lie in those of their owners. */
function sides(boxes) {
  const owners = boxes.map((box) => box.sandboxId).join('|')
  const group = new RegExp(`/cay-${process.env.CAY_INSTANCE}/(?:${owners})/_servers/(\\w+)`)
  const found = new Map()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const id = group.exec(about(pid, 'cgroup'))?.[1]
    if (id) found.set(id, (found.get(id) ?? 0) + ownMemory(pid))
  }
  return [...found.values()]
}

/** The same server so many times on the host. */
async function alone(program, count) {
  const clients = await Promise.all(Array.from({ length: count }, () => onPipe(program)))
  await Promise.all(clients.map((one) => one.listTools()))
  tell({ memory: clients.map((one) => ownMemory(one.transport.pid)) })
}

/** The server on the host, which listens at an address itself. */
async function listening(program) {
  const env = { ...process.env, ECHO_HTTP: '1' }
  const server = spawn(program[0], program.slice(1), { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const port = Number(await new Promise((resolve) => server.stdout.once('data', resolve)))
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), headers: {}, close: () => server.kill() }
}

/**
 * A client that does nothing but write and read: what is left of a call is the way to the server and the server.
 * `exchange` sends a text and gives the answer's.
 */
async function bare(exchange, close) {
  let id = 0
  const ask = async (method, params) => {
    const { result, error } = JSON.parse(await exchange(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })))
    if (!result) throw new Error(`${method}: ${error?.message}`)
    return result
  }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } })
  return { listTools: () => ask('tools/list', {}), callTool: (params) => ask('tools/call', params), close }
}

function bareOnPipe(program) {
  const server = spawn(program[0], program.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] })
  let take
  createInterface({ input: server.stdout }).on('line', (line) => take(line))
  const exchange = (text) => new Promise((resolve) => {
    take = resolve
    server.stdin.write(text + '\n')
  })
  return bare(exchange, () => server.kill())
}

async function bareOverHttp({ url, headers }) {
  const socket = createConnection({ host: url.hostname, port: url.port, noDelay: true })
  let came = ''
  let take
  let session = ''
  // Answers are plain ASCII here, so that characters are bytes.
  socket.setEncoding('latin1').on('data', (chunk) => {
    came += chunk
    const head = came.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = / 204 /.test(came.slice(0, 13)) ? 0 : /^content-length: *(\d+)/im.exec(came.slice(0, head))?.[1]
    // What is late comes as a stream of events, each in a chunk of its own, of which the last one is the answer.
    if (length !== undefined ? came.length < head + 4 + Number(length) : !came.endsWith('\r\n0\r\n\r\n')) return
    session ||= /mcp-session-id: *(\S+)/i.exec(came)?.[1] ?? ''
    const body = length !== undefined ? came.slice(head + 4) : [...came.matchAll(/^data: (\{.*)$/gm)].at(-1)[1]
    came = ''
    take(body)
  })
  const fixed = Object.entries({
    Host: url.host, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const exchange = (text, method = 'POST') => new Promise((resolve) => {
    take = resolve
    const named = session && `Mcp-Session-Id: ${session}\r\n`
    socket.write(`${method} ${url.pathname} HTTP/1.1\r\n${fixed}${named}Content-Length: ${text.length}\r\n\r\n${text}`)
  })
  return bare(exchange, async () => {
    if (session) await exchange('', 'DELETE')
    socket.destroy()
  })
}

/** Times of calls, when so many clients call all the time, each one thing after the other. */
async function callTimes(sessions, count, connect, warmth = WARMTH) {
  const clients = []
  let name
  // One after the other: so many servers that start at once take longer on two cores than a client waits for one.
  while (clients.length < sessions) {
    const one = await connect()
    name = (await one.listTools(undefined, PATIENCE)).tools[0].name
    clients.push(one)
  }
  const round = async (each) => {
    const times = []
    await Promise.all(clients.map(async (one) => {
      for (let n = 0; n < each; n++) {
        times.push(await timed(() => one.callTool({ name, arguments: { text: 'hi' } }, undefined, PATIENCE)))
      }
    }))
    return times
  }
  await round(Math.ceil(warmth / sessions))
  const times = await round(count)
  await Promise.all(clients.map((one) => one.close()))
  return times
}

async function calls(program, count, ...widths) {
  const box = await Sandbox.create({ mcp: { echo: {} }, timeoutMs: LIFE })
  const gateway = await gatewayOf(box)
  const http = await listening(program)
  const ways = {
    gateway: () => overHttp(gateway),
    http: () => overHttp(http),
    pipe: () => onPipe(program),
    bareGateway: () => bareOverHttp(gateway),
    bareHttp: () => bareOverHttp(http),
    barePipe: () => bareOnPipe(program),
  }
  // The daemon is as young as no daemon that serves people: what it does often is still being compiled.
  await callTimes(8, 1, ways.bareGateway, DAEMON_WARMTH)
  for (const sessions of widths) {
    const found = { sessions }
    for (const [name, connect] of Object.entries(ways)) found[name] = await callTimes(sessions, count, connect)
    tell(found)
  }
  http.close()
  await box.kill()
}

/** From the order to start servers to the list of their tools, so many times; `programs` is what runs on the host. */
async function starts(programs, runs) {
  const inside = async (keys) => {
    const box = await Sandbox.create('mcp-gateway', { timeoutMs: LIFE })
    const config = JSON.stringify(Object.fromEntries(keys.map((key) => [key, {}])))
    const took = await timed(async () => {
      await box.commands.run(`mcp-gateway --config '${config}' --token bench`, { user: 'root', timeoutMs: 0 })
      const client = await throughGateway(box)
      // What has to be fetched first is listed later.
      for (const end = Date.now() + FETCH_LIMIT; ; await pause(20)) {
        const { tools } = await client.listTools(undefined, PATIENCE)
        const missing = keys.filter((key) => !tools.some(({ name }) => name.startsWith(key)))
        if (!missing.length) break
        if (Date.now() > end) throw new Error(`no tools of ${missing}`)
      }
    })
    await box.kill()
    return took
  }
  const outside = (keys) => timed(() => Promise.all(keys.map(async (key) => {
    const one = await onPipe([programs[key]])
    await one.listTools(undefined, PATIENCE)
    // Its end is not measured.
    one.close()
  })))
  const all = Object.keys(programs)
  await inside(all) // Fetches them.
  for (const keys of [all.slice(0, 1), all]) {
    const [gateway, host] = [[], []]
    for (let n = 0; n < runs; n++) {
      gateway.push(await inside(keys))
      host.push(await outside(keys))
    }
    tell({ servers: keys.length, gateway, host })
  }
}

const [what, ...given] = process.argv.slice(2)
await { agents, alone, calls, starts }[what](...given.map((one) => JSON.parse(one)))
process.exit(0)
