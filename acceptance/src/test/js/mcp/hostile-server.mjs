// An MCP server on stdio that misbehaves in the way its argument names. With `--list` it prints the ways.
//
//   node hostile-server.mjs MODE
import { createInterface } from 'node:readline'

const schema = { type: 'object', properties: {} }
const tool = (name, inputSchema = schema) => ({ name, description: 'x', inputSchema })
const text = (words) => ({ content: [{ type: 'text', text: words }] })
const write = (line) => process.stdout.write(line + '\n')
const send = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
const result = (id, value) => send({ id, result: value })
const note = (n) => send({ method: 'notifications/message', params: { level: 'info', data: `note ${n}` } })
/** Goes on as fast as it is read, without filling our own memory. */
const forever = async (step) => {
  for (let n = 0; ; n++) {
    if (!step(n)) await new Promise((resume) => process.stdout.once('drain', resume))
  }
}
const MB = 1 << 20

/** What is done instead of the usual, by method; `start` before anything is read. */
const MODES = {
  'ok': {},
  'silent': { any: () => {} },
  'silent-call': { 'tools/call': () => {} },
  'slow-start': { initialize: (id, usual) => setTimeout(usual, 15_000) },
  'wrong-ids': { any: (id) => [`${id}`, 999, -1, null, {}, [], true, 1.5].forEach((wrong) => wrong !== id && result(wrong, text('not yours'))) },
  'twice': { 'tools/call': (id, usual) => (usual(), result(id, text('again')), send({ id, error: { code: 1, message: 'and again' } })) },
  'flood': { 'tools/call': () => forever(note) },
  'flood-at-start': { start: () => forever(note) },
  'progress-flood': {
    'tools/call': (id, _, params) => forever((n) => send({
      method: 'notifications/progress', params: { progressToken: params._meta?.progressToken ?? 0, progress: n },
    })),
  },
  'long-line': { 'tools/call': (id) => result(id, text('x'.repeat(100 * MB))) },
  'endless-line': { 'tools/call': () => forever(() => process.stdout.write('x'.repeat(MB))) },
  'exit-after-call': { 'tools/call': (id, usual) => (usual(), process.stdout.write('', () => process.exit(0))) },
  'exit-on-call': { 'tools/call': () => (console.error('panic: out of luck'), process.exit(7)) },
  'exit-at-start': { start: () => (console.error('error: SECRET_KEY is not set\nsee the manual'), process.exit(1)) },
  'close-stdout': { 'tools/call': () => process.stdout.end() },
  'stderr-flood': { start: () => setInterval(() => process.stderr.write('noise '.repeat(10_000) + '\n'), 1) },
  'garbage': {
    start: () => ['hello world', '{', '[]', '[1,2]', 'null', '{"jsonrpc":"1.0","id":1,"result":{}}', '\u0000\u0001', '{"a":'.repeat(5000), '"'].forEach(write),
    any: (id, usual) => (process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a, 0x0d, 0x0a])), write('{"jsonrpc":"2.0"}'), usual()),
  },
  'deep': { 'tools/call': (id) => write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) },
  'bad-results': { any: (id) => send({ id, result: [null, 'text', 7][Math.floor(Math.random() * 3)], error: 'both' }) },
  'bad-lists': { 'tools/list': (id) => result(id, { tools: [null, 7, {}, { name: 7 }, { name: 'no-schema' }, { name: '' }, [], tool('good')] }) },
  'endless-pages': { 'tools/list': (id, _, params) => result(id, { tools: [tool(`page${params.cursor ?? 0}`)], nextCursor: `${Number(params.cursor ?? 0) + 1}` }) },
  'same-page': { 'tools/list': (id) => result(id, { tools: [tool('same')], nextCursor: 'same' }) },
  'sampling': {
    'tools/call': () => {
      for (let n = 0; n < 1000; n++) {
        send({ id: `ask-${n}`, method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: { type: 'text', text: `${n}` } }], maxTokens: 1 } })
      }
    },
  },
  'unknown-requests': { 'tools/call': (id, usual) => (send({ id: 'r', method: 'roots/list' }), send({ id: 'x', method: 'no/such' }), usual()) },
  'evil-names': {
    'tools/list': (id) => result(id, {
      tools: ['with space', 'a/b', '../../etc/passwd', 'n'.repeat(300), 'twice', 'twice', 'tëst', '工具', '🔧', 'new\nline', '\u0000', '', ' ', '__proto__',
        'constructor', 'a-b', 'a_b', 'a.b', '"quoted"', '${x}', 'A-B', '\u202Eevil', 'e\u0301'].map((name) => tool(name)),
    }),
  },
  'many-tools': { 'tools/list': (id) => result(id, { tools: Array.from({ length: 10_000 }, (_, n) => tool(`tool_${n}`)) }) },
  'large-schema': {
    'tools/list': (id) => result(id, { tools: [tool('large', { type: 'object', properties: { x: { type: 'string', description: 'd'.repeat(5 * MB) } } })] }),
  },
  'restless': {
    start: () => setInterval(() => send({ method: 'notifications/tools/list_changed' }), 5),
    'tools/list': (id) => result(id, { tools: [tool(`tool_${Date.now()}`), tool('echo')] }),
  },
  'stubborn': { start: () => ['SIGTERM', 'SIGINT', 'SIGHUP'].forEach((signal) => process.on(signal, () => {})), end: () => setInterval(() => {}, 1000) },
  'old-revision': { initialize: (id) => result(id, greeting('2024-11-05')) },
  'future-revision': { initialize: (id) => result(id, greeting('2099-01-01')) },
  'refuses': { initialize: (id) => send({ id, error: { code: -32000, message: 'go away' } }) },
}

const greeting = (protocolVersion) => ({
  protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'hostile', version: '1' },
})
const USUAL = {
  initialize: (id, { protocolVersion }) => result(id, greeting(protocolVersion)),
  ping: (id) => result(id, {}),
  'tools/list': (id) => result(id, { tools: [tool('echo')] }),
  'tools/call': (id, params) => result(id, text(`echo ${JSON.stringify(params.arguments ?? {})}`)),
}

const name = process.argv.at(-1)
if (name === '--list') {
  console.log(Object.keys(MODES).join('\n'))
  process.exit(0)
}
const mode = MODES[name]
if (!mode) {
  console.error(`there is no mode ${name}; --list names them`)
  process.exit(2)
}
process.stdout.on('error', () => process.exit(0))
mode.start?.()
createInterface({ input: process.stdin }).on('line', (line) => {
  if (!line.trim()) return
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined || !method) return
  const usual = () => (USUAL[method] ?? ((it) => send({ id: it, error: { code: -32601, message: 'unknown' } })))(id, params)
  const special = mode[method] ?? mode.any
  special ? special(id, usual, params) : usual()
}).on('close', () => (mode.end ? mode.end() : process.exit(0)))
