// The way into a sandbox's gateway, whichever version of the client is under test.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Sandbox } from '../client.mjs'

const require = createRequire(process.env.CAY_MCP_CLIENT + '/')
const load = async (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + path)).href)
const { Client } = await load('client/index.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')

/** `create({mcp})`, which older clients call `betaCreate`. */
export const create = (options) =>
  Sandbox.prototype.getMcpUrl ? Sandbox.create(options) : Sandbox.betaCreate(options)
export const urlOf = (sandbox) => (sandbox.getMcpUrl ?? sandbox.betaGetMcpUrl).call(sandbox)
export const tokenOf = (sandbox) => (sandbox.getMcpToken ?? sandbox.betaGetMcpToken).call(sandbox)

/** An MCP client from outside; close it with `close()`. */
export async function connect(sandbox, { token, capabilities = {} } = {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const headers = { Authorization: `Bearer ${token ?? (await tokenOf(sandbox))}` }
  const transport = new StreamableHTTPClientTransport(new URL(urlOf(sandbox)), { requestInit: { headers } })
  await client.connect(transport)
  return Object.assign(client, { wire: transport })
}

export const textOf = (result) => result.content.map((part) => part.text ?? '').join('')
