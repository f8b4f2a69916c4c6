// An MCP server that gives back what it is given, on stdio. It does next to nothing, so what a call takes is the way to it.
import { createInterface } from 'node:readline'

const ECHO = {
  name: 'echo',
  description: 'Gives its text back',
  inputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      together: { type: 'number', description: 'how many calls must be under way before any is answered' },
      pause: { type: 'number', description: 'the most milliseconds it then takes' },
    },
    required: ['text'],
  },
}

const waiting = []
const gathered = (count) => new Promise((resume) => {
  waiting.push(resume)
  if (waiting.length >= count) waiting.splice(0).forEach((go) => go())
})

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [ECHO] }),
  'tools/call': async ({ arguments: { text, together, pause } }) => {
    if (together) await gathered(together)
    if (pause) await new Promise((resume) => setTimeout(resume, Math.random() * pause))
    return { content: [{ type: 'text', text }] }
  },
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) return
  const known = METHODS[method]
  const answer = known ? { result: await known(params) } : { error: { code: -32601, message: 'no such method' } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\n')
})
