// Servers of the catalog, started as users start them: by `create({ mcp })`. The client of the protocol's makers then lists
// their tools. The order is a list of sandboxes, each a list of servers with `key`, `prefix` and `options`; each server is
// told when its sandbox is through, with its `tools`, and what a tool named `tell` said, or the `reason` why it has none.
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

/** Names of all tools, and what the tool of a stand-in says, by the server's prefix. */
async function listed(url, headers, servers) {
  const client = new Client({ name: 'cay', version: '1' })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    const tools = (await client.listTools()).tools.map((tool) => tool.name)
    const said = {}
    for (const { key, prefix } of servers) {
      const name = `${prefix}-tell`
      if (!tools.includes(name)) continue
      const { content } = await client.callTool({ name, arguments: {} })
      said[key] = content.map((part) => part.text ?? '').join('')
    }
    return { tools, said }
  } finally {
    await client.close()
  }
}

/** One sandbox with these servers; what came of each, by its key. */
async function start(servers) {
  const mcp = Object.fromEntries(servers.map(({ key, options }) => [key, options]))
  const box = await Sandbox.create({ mcp, timeoutMs: LIMIT + 120_000, requestTimeoutMs: 120_000 })
  try {
    const url = box.getMcpUrl()
    const headers = { Authorization: `Bearer ${await box.getMcpToken()}` }
    const fates = {}
    for (const { key } of servers) fates[key] = await fate(url, headers, key)
    const { tools, said } = await listed(url, headers, servers)
    const results = {}
    for (const { key, prefix } of servers) {
      const own = servers.length === 1 ? tools : tools.filter((name) => name.startsWith(`${prefix}-`))
      const reason = fates[key].reason ?? (await fate(url, headers, key)).reason ?? 'it has no tools'
      results[key] = fates[key].state === 'failed' || own.length === 0 ? { reason } : { tools: own, said: said[key] }
    }
    return results
  } finally {
    await box.kill()
  }
}

const groups = JSON.parse(await order())
await atOnce(groups.length, WIDTH, async (i) => {
  const failed = (error) => Object.fromEntries(groups[i].map(({ key }) => [key, { reason: `${error?.message ?? error}` }]))
  const results = await start(groups[i]).catch(failed)
  for (const { key } of groups[i]) tell({ key, ...results[key] })
})
