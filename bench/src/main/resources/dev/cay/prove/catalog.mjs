// Servers of the catalog, each started once for a sandbox of its own, as users start them: by `create({ mcp })`. The
// client of the protocol's makers then lists their tools. The order is a list of servers with `key` and `options`;
// each is told as soon as it is through, with its `tools` or the `reason` why it has none.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Sandbox, atOnce, order, pause, tell } from './client.mjs'

const require = createRequire(process.env.CAY_MCP_CLIENT + '/')
const load = async (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + path)).href)
const { Client } = await load('client/index.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')

const WIDTH = Number(process.argv[2])
/** A package is fetched first, which can take minutes. */
const LIMIT = 900_000

/** How the gateway says that its one server is doing, once that is decided. */
async function fate(url, headers, key) {
  const end = Date.now() + LIMIT
  for (;;) {
    const answer = await fetch(new URL('/health', url), { headers, signal: AbortSignal.timeout(30_000) })
    const server = (await answer.json()).servers[key]
    if (server.state !== 'starting') return server
    if (Date.now() > end) throw new Error('it was still being started after 15 minutes')
    await pause(200)
  }
}

async function listed(url, headers) {
  const client = new Client({ name: 'cay', version: '1' })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    return (await client.listTools()).tools.map((tool) => tool.name)
  } finally {
    await client.close()
  }
}

async function start({ key, options }) {
  const box = await Sandbox.create({ mcp: { [key]: options }, timeoutMs: LIMIT + 120_000, requestTimeoutMs: 120_000 })
  try {
    const url = box.getMcpUrl()
    const headers = { Authorization: `Bearer ${await box.getMcpToken()}` }
    const { state, reason } = await fate(url, headers, key)
    if (state === 'failed') return { reason }
    const tools = await listed(url, headers)
    return tools.length > 0 ? { tools } : { reason: (await fate(url, headers, key)).reason ?? 'it has no tools' }
  } finally {
    await box.kill()
  }
}

const servers = JSON.parse(await order())
await atOnce(servers.length, WIDTH, async (i) => {
  const result = await start(servers[i]).catch((error) => ({ reason: `${error?.message ?? error}` }))
  tell({ key: servers[i].key, ...result })
})
