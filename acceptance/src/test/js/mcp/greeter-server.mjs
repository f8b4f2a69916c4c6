// A server as users bring it in a repository: it needs a file that installing makes, a variable and an argument.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const installed = readFileSync('installed.txt', 'utf8').trim()
const greet = { name: 'greet', description: 'Greets somebody', inputSchema: { type: 'object', properties: { name: { type: 'string' } } } }
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'greeter', version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [greet] }),
  'tools/call': ({ arguments: { name } }) => ({
    content: [{ type: 'text', text: `${process.env.GREETING}, ${name}${process.argv[2]} (${installed})` }],
  }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: methods[method](params ?? {}) }))
})
