// An MCP server that gives back what it is given, on stdio or by HTTP. It does next to nothing, so what a call takes is the
// way to it.
import { createServer } from 'node:http'
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

async function answer({ id, method, params = {} }) {
  const known = METHODS[method]
  const outcome = known ? { result: await known(params) } : { error: { code: -32601, message: 'no such method' } }
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome })
}

function onPipe() {
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const message = JSON.parse(line)
    if (message.id !== undefined) process.stdout.write((await answer(message)) + '\n')
  })
}

/** On a free port, which it prints. */
function onPort() {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const message = JSON.parse(Buffer.concat(await request.toArray()))
    if (message.id === undefined) return response.writeHead(202).end()
    const text = await answer(message)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text)
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
}

if (process.env.ECHO_HTTP) onPort()
else onPipe()
