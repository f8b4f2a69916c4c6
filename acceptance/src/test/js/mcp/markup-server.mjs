// An MCP server on stdio whose texts are markup and escape sequences: everything that a page could take for its own. With
// the argument `fail` it does not start.
import { createInterface } from 'node:readline'

const MARKUP = '<img src=x onerror="document.title=1">\u001b[31mred\u001b[0m'
if (process.argv.includes('fail')) {
  process.stderr.write(`broken ${MARKUP}\n`)
  process.exit(3)
}

const properties = {
  text: { type: 'string', title: 'Text ' + MARKUP, description: MARKUP },
  times: { type: 'integer', minimum: 1, default: 2 },
  loud: { type: 'boolean' },
  mood: { type: 'string', enum: ['calm', MARKUP] },
  more: { type: 'object' },
  [MARKUP]: { type: 'string' },
  ['__proto__']: { type: 'string' },
}
const tools = [
  { name: 'echo', title: 'Echo ' + MARKUP, description: MARKUP, inputSchema: { type: 'object', properties, required: ['text'] } },
  { name: 'slow', description: 'Goes on for ever', inputSchema: { type: 'object', properties: {} } },
  { name: 'wrong', inputSchema: { type: 'object', properties: { any: { anyOf: [{ type: 'string' }, { type: 'number' }] } } } },
  { name: 'odd', description: 7, inputSchema: { type: 'object', properties: MARKUP, required: 'x' } },
]
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const calls = {
  echo: (given) => ({
    content: [
      { type: 'text', text: `${MARKUP} ${JSON.stringify(given)}` },
      { type: 'image', mimeType: 'image/png', data: PIXEL },
      { type: 'image', mimeType: 'image/svg+xml', data: btoa('<svg xmlns="http://www.w3.org/2000/svg"/>') },
      { type: 'resource_link', uri: 'javascript:document.title=1', name: MARKUP },
    ],
    structuredContent: { said: MARKUP },
  }),
  slow: () => undefined,
  wrong: () => ({ isError: true, content: [{ type: 'text', text: `it failed ${MARKUP}` }] }),
  odd: () => ({ content: 'nothing that is a list' }),
}
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: MARKUP, version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: given }) => calls[name](given),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result = id === undefined ? undefined : methods[method]?.(params ?? {})
  if (result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
