// Agents that use MCP servers through the gateways of their sandboxes, each with a client of its own.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Sandbox, atOnce, order, tell, timed } from './client.mjs'

const require = createRequire(process.env.CAY_MCP_CLIENT + '/')
const load = async (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + path)).href)
const { Client } = await load('client/index.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')

const LIFE = 900_000
/** For a call, on a machine that has much else to do. */
const PATIENCE = { timeout: 300_000 }

async function client(transport) {
  const made = new Client({ name: 'bench', version: '1' })
  await made.connect(transport)
  return made
}

/** Without TLS, as the handshakes of a thousand calls would be most of what they take. */
async function throughGateway(box) {
  const url = new URL(box.getMcpUrl().replace(/^https:/, 'http:'))
  url.port = new URL(process.env.E2B_API_URL).port
  const headers = { Authorization: `Bearer ${await box.getMcpToken()}` }
  return client(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
}

const textOf = (result) => result.content.map((part) => part.text).join('')

/**
 * So many agents with so many calls each, all at once: servers answer when all calls of an agent are there. No two calls
 * have the same text, so no answer fits another's.
 */
async function agents(count, calls) {
  const boxes = []
  await atOnce(count, 4, async () => boxes.push(await Sandbox.create({ mcp: { echo: {} }, timeoutMs: LIFE })))
  const clients = await Promise.all(boxes.map(throughGateway))
  const names = await Promise.all(clients.map(async (one) => (await one.listTools()).tools[0].name))
  tell({ boxes: boxes.map((box) => box.sandboxId) })
  await order()
  const failures = []
  let right = 0
  const call = async (agent, n) => {
    const text = `agent ${agent} call ${n}`
    try {
      const request = { name: names[agent], arguments: { text, together: calls, pause: 200 } }
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

const [what, ...numbers] = process.argv.slice(2)
await { agents }[what](...numbers.map(Number))
process.exit(0)
