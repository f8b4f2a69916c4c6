// An MCP server with everything the conformance suite looks for by name. One file without dependencies, so that it runs
// wherever there is a Node.
//
//   node fixtures-server.mjs               old era, a message per line on stdio
//   node fixtures-server.mjs --http PORT   both eras at http://127.0.0.1:PORT/mcp; port 0 takes any and prints the URL
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const MODERN = '2026-07-28'
const OLD = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const SERVER = { name: 'fixtures', version: '1.0.0' }
const META = 'io.modelcontextprotocol/'
const INPUT_KEY = 'dev.cay/inputKey' // what a question is called, for those between here and newer clients
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
}
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

class Fault extends Error {
  constructor(code, message, data) {
    super(message)
    Object.assign(this, { code, data })
  }
}

/** Not an error: the answer is that something must be asked first. */
class InputRequired extends Error {
  constructor(requests, state) {
    super('input required')
    Object.assign(this, { requests, state })
  }
}

// ---------------------------------------------------------------- what there is

const text = (words) => ({ content: [{ type: 'text', text: words }] })
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const form = (message, properties, required = Object.keys(properties)) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, required } },
})
const sample = (words, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens },
})
const roots = { method: 'roots/list', params: {} }
const NAME = form('What is your name?', { name: { type: 'string' } })
const CONFIRM = form('Please confirm', { ok: { type: 'boolean' } })
const said = (answer) => [answer.content].flat().map((part) => part?.text ?? '').join('')
const completed = (answer) =>
  text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)
const embedded = (uri, words, mimeType = 'text/plain') => ({ type: 'resource', resource: { uri, mimeType, text: words } })

async function logging(_, call) {
  call.log('info', 'Tool execution started')
  await sleep(50)
  call.log('info', 'Tool processing data')
  await sleep(50)
  call.log('info', 'Tool execution completed')
  return text('Tool with logging executed successfully')
}

async function progress(_, call) {
  for (const done of [0, 50, 100]) {
    call.progress(done, 100)
    await sleep(50)
  }
  return text('Tool with progress executed successfully')
}

async function oneByOne(_, call) {
  const { step1 } = await call.ask({ step1: form('Step 1: What is your name?', { name: { type: 'string' } }) })
  const { step2 } = await call.ask({
    step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }),
  })
  return text(`${step1.content?.name} likes ${step2.content?.color}`)
}

const DEFAULTS = form('Please look over these values', {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}, [])
const options = (...titles) => titles.map((title, i) => ({ const: `value${i + 1}`, title }))
const ENUMS = form('Please choose', {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: options('First Option', 'Second Option', 'Third Option') },
  legacyEnum: {
    type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: options('First Choice', 'Second Choice', 'Third Choice') } },
}, [])
const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

/** name: [what it does, properties of its arguments or a whole schema] */
const TOOLS = {
  test_simple_text: [() => text('This is a simple text response for testing.')],
  test_image_content: [() => ({ content: [image] })],
  test_audio_content: [() => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })],
  test_embedded_resource: [
    () => ({ content: [embedded('test://embedded-resource', 'This is an embedded resource content.')] }),
  ],
  test_multiple_content_types: [() => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json'),
    ],
  })],
  test_tool_with_logging: [logging],
  test_logging_tool: [logging],
  test_error_handling: [() => ({ ...text('This tool intentionally returns an error for testing'), isError: true })],
  test_tool_with_progress: [progress],
  test_sampling: [async ({ prompt }, call) => {
    const { answer } = await call.ask({ answer: sample(prompt) })
    return text(`LLM response: ${said(answer)}`)
  }, { prompt: { type: 'string' } }],
  test_elicitation: [async ({ message }, call) => {
    const { user } = await call.ask({
      user: form(message, {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      }),
    })
    return text(`User response: action: ${user.action}, content: ${JSON.stringify(user.content ?? {})}`)
  }, { message: { type: 'string' } }],
  test_elicitation_sep1034_defaults: [async (_, call) => completed((await call.ask({ values: DEFAULTS })).values)],
  test_elicitation_sep1330_enums: [async (_, call) => completed((await call.ask({ choices: ENUMS })).choices)],
  test_reconnection: [async (_, call) => {
    call.cut()
    await sleep(500) // longer than anybody waits for an answer that comes alone
    return text('The stream was closed and the answer came by another')
  }],
  json_schema_2020_12_tool: [(given) => text(JSON.stringify(given)), SCHEMA_2020],
  test_missing_capability: [async (_, call) => text(said((await call.ask({ answer: sample('Anything') })).answer))],
  test_streaming_elicitation: [async (_, call) => {
    call.progress(0, 1)
    return completed((await call.ask({ user_name: NAME })).user_name)
  }],
  test_trigger_tool_change: [(_, call) => call.changed('tools')],
  test_trigger_prompt_change: [(_, call) => call.changed('prompts')],
  test_touch_watched_resource: [(_, call) => call.updated('test://watched-resource')],
  test_custom_header: [
    ({ region }) => text(`region: ${region}`),
    { region: { type: 'string', 'x-mcp-header': 'Region' } },
  ],
  test_input_required_result_elicitation: [async (_, call) => {
    const { user_name } = await call.ask({ user_name: NAME })
    return text(`Hello, ${user_name.content?.name}!`)
  }],
  test_input_required_result_sampling: [async (_, call) => {
    const { capital_question } = await call.ask({ capital_question: sample('What is the capital of France?') })
    return text(said(capital_question))
  }],
  test_input_required_result_list_roots: [async (_, call) => {
    const { client_roots } = await call.ask({ client_roots: roots })
    return text(`Roots: ${client_roots.roots?.map((root) => root.uri).join(', ')}`)
  }],
  test_input_required_result_request_state: [async (_, call) => {
    await call.ask({ confirm: CONFIRM })
    return text(call.stateSeen ? 'state-ok' : 'no state came back')
  }],
  test_input_required_result_tampered_state: [async (_, call) => {
    await call.ask({ confirm: CONFIRM })
    return text('state-ok')
  }],
  test_input_required_result_multiple_inputs: [async (_, call) => {
    const all = await call.ask({ user_name: NAME, greeting: sample('Generate a greeting', 50), client_roots: roots })
    return text(`${said(all.greeting)} ${all.user_name.content?.name}, ${all.client_roots.roots?.length} roots`)
  }],
  test_input_required_result_multi_round: [oneByOne],
  test_input_required_result_capabilities: [async (_, call) => {
    const possible = { user_name: NAME, greeting: sample('Generate a greeting', 50), client_roots: roots }
    const asked = Object.entries(possible).filter(([, request]) => call.can(request.method))
    return text(`answered: ${Object.keys(await call.ask(Object.fromEntries(asked)))}`)
  }],
}

const user = (...parts) => ({ messages: parts.map((content) => ({ role: 'user', content })) })
const PROMPTS = {
  test_simple_prompt: [() => user({ type: 'text', text: 'This is a simple prompt for testing.' })],
  test_prompt_with_arguments: [
    ({ arg1, arg2 }) => user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
    'arg1', 'arg2',
  ],
  test_prompt_with_embedded_resource: [
    ({ resourceUri }) => user(
      embedded(resourceUri, 'Embedded resource content for testing.'),
      { type: 'text', text: 'Please process the embedded resource above.' },
    ),
    'resourceUri',
  ],
  test_prompt_with_image: [() => user(image, { type: 'text', text: 'Please analyze the image above.' })],
  test_input_required_result_prompt: [async (_, call) => {
    const wanted = form('What context should the prompt use?', { context: { type: 'string' } })
    const { user_context } = await call.ask({ user_context: wanted })
    return user({ type: 'text', text: `Use this context: ${user_context.content?.context}` })
  }],
}
const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content.' },
}
let more = false // whether there is one more tool and prompt than usual

// ---------------------------------------------------------------- what is answered

const schema = (properties = {}) =>
  properties.$schema ? properties : { type: 'object', properties, required: Object.keys(properties) }
const entry = (things, name) => (Object.hasOwn(things, name ?? '') ? things[name] : undefined)
const described = (name) => ({ name, description: `Fixture ${name}` })
const extra = (name) => (more ? [name] : [])

const METHODS = {
  'tools/list': () => ({
    tools: [...Object.keys(TOOLS), ...extra('test_extra_tool')].map((name) => ({
      ...described(name), inputSchema: schema(TOOLS[name]?.[1]),
    })),
  }),
  'tools/call': async (params, call) => {
    const tool = entry(TOOLS, params.name)
    if (!tool) throw new Fault(-32602, `Unknown tool: ${params.name}`)
    const given = params.arguments ?? {}
    const missing = (schema(tool[1]).required ?? []).filter((name) => given[name] === undefined)
    if (missing.length) return { ...text(`Missing arguments: ${missing}`), isError: true }
    return tool[0](given, call)
  },
  'prompts/list': () => ({
    prompts: [...Object.keys(PROMPTS), ...extra('test_extra_prompt')].map((name) => ({
      ...described(name),
      arguments: (PROMPTS[name] ?? []).slice(1).map((argument) => ({ ...described(argument), required: true })),
    })),
  }),
  'prompts/get': async (params, call) => {
    const prompt = entry(PROMPTS, params.name)
    if (!prompt) throw new Fault(-32602, `Unknown prompt: ${params.name}`)
    return prompt[0](params.arguments ?? {}, call)
  },
  'resources/list': () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, ...described(uri.slice(7)), mimeType })),
  }),
  'resources/templates/list': () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', ...described('template'), mimeType: 'application/json' },
    ],
  }),
  'resources/read': ({ uri }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
    const found = id
      ? { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }
      : entry(RESOURCES, uri)
    if (!found) throw new Fault(-32602, 'Resource not found', { uri })
    return { contents: [{ uri, ...found }] }
  },
  'completion/complete': () => ({ completion: { values: [], total: 0, hasMore: false } }),
}
const OLD_METHODS = {
  ...METHODS,
  ping: () => ({}),
  'logging/setLevel': ({ level }, call) => {
    if (!LEVELS.includes(level)) throw new Fault(-32602, `Unknown level: ${level}`)
    call.session.level = level
    return {}
  },
  'resources/subscribe': ({ uri }, call) => (call.session.watched.add(uri), {}),
  'resources/unsubscribe': ({ uri }, call) => (call.session.watched.delete(uri), {}),
}

/** Who hears of changes: functions that take (kind of change, notification). */
const watchers = new Set()
const tell = (kind, method, params) => watchers.forEach((watcher) => watcher(kind, { jsonrpc: '2.0', method, params }))

/** One request while it is answered. `way` is how its era reaches the client. */
class Call {
  constructor(params, way) {
    Object.assign(this, { params, ...way })
  }

  notify(method, params) {
    this.send({ jsonrpc: '2.0', method, params })
  }

  log(level, data) {
    const least = this.level()
    if (least && LEVELS.indexOf(level) >= LEVELS.indexOf(least)) {
      this.notify('notifications/message', { level, logger: 'fixtures', data })
    }
  }

  progress(progress, total) {
    const progressToken = this.params._meta?.progressToken
    if (progressToken !== undefined) this.notify('notifications/progress', { progressToken, progress, total })
  }

  can(method) {
    return this.capabilities()[method.split('/')[0]] !== undefined
  }

  async ask(requests) {
    for (const { method } of Object.values(requests)) {
      const needed = method.split('/')[0]
      if (!this.can(method)) {
        throw new Fault(-32021, `The client cannot do ${needed}`, { requiredCapabilities: { [needed]: {} } })
      }
    }
    return this.asked(requests)
  }

  changed(kind) {
    more = !more
    tell(kind, `notifications/${kind}/list_changed`)
    return text(`${kind} changed`)
  }

  updated(uri) {
    tell(uri, 'notifications/resources/updated', { uri })
    return text(`${uri} updated`)
  }
}

const result = (id, value) => ({ jsonrpc: '2.0', id, result: value })
const failure = (id, { code = -32603, message, data }) => ({ jsonrpc: '2.0', id, error: { code, message, data } })

// ---------------------------------------------------------------- the old era

class Session {
  constructor(push) {
    Object.assign(this, { id: randomUUID(), level: 'debug', watched: new Set(), waiting: new Map(), capabilities: {} })
    this.next = 1
    this.under = new Map()
    this.watcher = (kind, message) => {
      if (kind === 'tools' || kind === 'prompts' || this.watched.has(kind)) push(message)
    }
    watchers.add(this.watcher)
  }

  /** A notification, or the answer to something we asked. */
  take(message) {
    if (message.method === 'notifications/cancelled') this.under.get(message.params?.requestId)?.abort()
    if (message.method) return
    this.waiting.get(message.id)?.(message)
    this.waiting.delete(message.id)
  }

  /** @returns the answer; undefined if it is wanted no more */
  async answer({ id, method, params = {} }, send, cut = () => {}) {
    if (method === 'initialize') return result(id, this.greet(params))
    const handler = entry(OLD_METHODS, method)
    if (!handler) return failure(id, new Fault(-32601, `Method not found: ${method}`))
    const end = new AbortController()
    this.under.set(id, end)
    const call = new Call(params, {
      send, cut, session: this, stateSeen: true,
      level: () => this.level,
      capabilities: () => this.capabilities,
      asked: (requests) => this.asked(requests, send),
    })
    try {
      const value = await handler(params, call)
      return end.signal.aborted ? undefined : result(id, value)
    } catch (e) {
      return failure(id, e)
    } finally {
      this.under.delete(id)
    }
  }

  greet({ protocolVersion, capabilities = {} }) {
    this.capabilities = capabilities
    this.version = OLD.includes(protocolVersion) ? protocolVersion : OLD[0]
    return { protocolVersion: this.version, capabilities: { ...CAPABILITIES, logging: {} }, serverInfo: SERVER }
  }

  async asked(requests, send) {
    const answers = Object.entries(requests).map(async ([key, request]) => {
      const id = `${key}-${this.next++}`
      const answer = new Promise((resolve) => this.waiting.set(id, resolve))
      send({ jsonrpc: '2.0', id, ...request, params: { ...request.params, _meta: { [INPUT_KEY]: key } } })
      const { result: value, error } = await answer
      if (error) throw new Fault(error.code, error.message)
      return [key, value]
    })
    return Object.fromEntries(await Promise.all(answers))
  }

  end() {
    watchers.delete(this.watcher)
  }
}

function stdio() {
  const send = (message) => process.stdout.write(JSON.stringify(message) + '\n')
  const session = new Session(send)
  const under = new Set()
  createInterface({ input: process.stdin }).on('line', async (line) => {
    if (!line.trim()) return
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return send(failure(null, new Fault(-32700, 'Parse error')))
    }
    if (message.method && message.id !== undefined) {
      const answering = session.answer(message, send).then((answer) => answer && send(answer))
      under.add(answering)
      await answering
      under.delete(answering)
    } else {
      session.take(message)
    }
    // What was asked before is still answered, but nobody will answer us any more.
  }).on('close', () => Promise.race([Promise.all(under), sleep(5000)]).then(() => process.stdout.end(() => process.exit(0))))
}

// ---------------------------------------------------------------- HTTP, old era

const sessions = new Map()
const SSE = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

/** What was said to one request, or beside all of them, so that it can be said again. */
class Stream {
  constructor(session) {
    Object.assign(this, { session, id: session.streams.size, events: [], over: false })
    session.streams.set(this.id, this)
  }

  open(response, after = -1) {
    response.writeHead(200, { ...SSE, 'mcp-session-id': this.session.id })
    response.flushHeaders()
    this.response = response
    if (after < 0 && this.events.length === 0 && this.session.version === OLD[0]) this.add('')
    else this.events.slice(after + 1).forEach((data, i) => this.write(after + 1 + i, data))
    if (this.over) response.end()
  }

  add(data) {
    this.events.push(data)
    this.write(this.events.length - 1, data)
  }

  write(n, data) {
    this.response?.write(`id: ${this.id}_${n}\n${data ? '' : 'retry: 300\n'}data: ${data}\n\n`)
  }

  cut() {
    this.response?.end()
    this.response = undefined
  }

  finish(message) {
    if (message) this.add(JSON.stringify(message))
    this.over = true
    this.cut()
  }
}

function begin() {
  const session = new Session((message) => session.beside?.add(JSON.stringify(message)))
  session.streams = new Map()
  sessions.set(session.id, session)
  return session
}

async function old(request, response, message) {
  const json = (status, body, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  const refuse = (status, words) => json(status, failure(message?.id ?? null, new Fault(-32000, words)))
  if (message?.method === 'initialize') {
    const session = begin()
    return json(200, await session.answer(message), { 'mcp-session-id': session.id })
  }
  const given = request.headers['mcp-session-id']
  if (!given) return refuse(400, 'Mcp-Session-Id is missing')
  const session = sessions.get(given)
  if (!session) return refuse(404, 'there is no such session')
  const version = request.headers['mcp-protocol-version']
  if (version && !OLD.includes(version)) return refuse(400, 'this protocol version is not supported')
  if (request.method === 'DELETE') {
    session.end()
    session.streams.forEach((stream) => stream.cut())
    sessions.delete(given)
    return response.writeHead(200, { 'content-length': 0 }).end()
  }
  if (request.method === 'GET') return listen(request, response, session, refuse)
  if (message.method === undefined || message.id === undefined) {
    session.take(message)
    return response.writeHead(202).end()
  }
  if (message.method !== 'tools/call' && message.method !== 'prompts/get') {
    return json(200, await session.answer(message, () => {}))
  }
  const stream = new Stream(session)
  stream.open(response)
  stream.finish(await session.answer(message, (other) => stream.add(JSON.stringify(other)), () => stream.cut()))
}

function listen(request, response, session, refuse) {
  const last = /^(\d+)_(\d+)$/.exec(request.headers['last-event-id'] ?? '')
  const found = last && session.streams.get(Number(last[1]))
  if (last && !found) return refuse(400, 'there is no such event')
  if (!last) session.beside ??= new Stream(session)
  const stream = found ?? session.beside
  stream.cut()
  stream.open(response, last ? Number(last[2]) : -1)
}

// ---------------------------------------------------------------- HTTP, new era

const SECRET = randomBytes(32)
const sign = (words) => createHmac('sha256', SECRET).update(words).digest('base64url')

function seal(answers) {
  const words = Buffer.from(JSON.stringify(answers)).toString('base64url')
  return `${words}.${sign(words)}`
}

function unseal(state) {
  const [words, signature = '', ...rest] = String(state).split('.')
  const right = Buffer.from(sign(words))
  const given = Buffer.from(signature)
  if (rest.length || right.length !== given.length || !timingSafeEqual(right, given)) {
    throw new Fault(-32602, 'requestState is not one of ours')
  }
  return JSON.parse(Buffer.from(words, 'base64url').toString())
}

function decoded(value) {
  const wrapped = /^=\?base64\?(.*)\?=$/.exec(value)
  if (!wrapped) return value
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(wrapped[1])) return undefined
  return Buffer.from(wrapped[1], 'base64').toString()
}

/** What is wrong with the frame of a request, before anybody looks at what it asks for. */
function check({ headers }, { method, params = {} }) {
  const meta = params._meta ?? {}
  const version = meta[META + 'protocolVersion']
  const mismatch = (name) => new Fault(-32020, `Header ${name} does not say what the body says`)
  if (typeof version !== 'string') throw new Fault(-32602, `params._meta must have ${META}protocolVersion`)
  if (typeof meta[META + 'clientCapabilities'] !== 'object') {
    throw new Fault(-32602, `params._meta must have ${META}clientCapabilities`)
  }
  if (headers['mcp-protocol-version'] !== version) throw mismatch('MCP-Protocol-Version')
  if (version !== MODERN) {
    throw new Fault(-32022, 'Unsupported protocol version', { supported: [MODERN, ...OLD], requested: version })
  }
  if (headers['mcp-method'] !== method) throw mismatch('Mcp-Method')
  const name = { 'tools/call': params.name, 'prompts/get': params.name, 'resources/read': params.uri }[method]
  if (name !== undefined && decoded(headers['mcp-name'] ?? '') !== name) throw mismatch('Mcp-Name')
  if (method !== 'tools/call') return
  const properties = schema(entry(TOOLS, params.name)?.[1]).properties
  for (const [property, { 'x-mcp-header': suffix }] of Object.entries(properties)) {
    const header = suffix && headers[`mcp-param-${suffix.toLowerCase()}`]
    const value = params.arguments?.[property]
    if (suffix && value !== undefined && (header === undefined || decoded(header) !== String(value))) {
      throw mismatch(`Mcp-Param-${suffix}`)
    }
  }
}

function modernCall(params, send) {
  const known = params.requestState === undefined ? {} : unseal(params.requestState)
  for (const [key, value] of Object.entries(params.inputResponses ?? {})) {
    if (value && typeof value === 'object') known[key] = value
  }
  return new Call(params, {
    send, cut: () => {}, stateSeen: params.requestState !== undefined,
    level: () => params._meta[META + 'logLevel'],
    capabilities: () => params._meta[META + 'clientCapabilities'],
    asked: (requests) => {
      const open = Object.entries(requests).filter(([key]) => !Object.hasOwn(known, key))
      if (open.length) throw new InputRequired(Object.fromEntries(open), seal(known))
      return known
    },
  })
}

const cached = (value) => ({ resultType: 'complete', ...value, ttlMs: 1000, cacheScope: 'private' })

async function modernAnswer({ method, params }, send) {
  if (method === 'server/discover') {
    return cached({ supportedVersions: [MODERN, ...OLD], capabilities: CAPABILITIES })
  }
  const handler = entry(METHODS, method)
  if (!handler) throw new Fault(-32601, `Method not found: ${method}`)
  try {
    const value = await handler(params, modernCall(params, send))
    return method.endsWith('list') || method === 'resources/read' ? cached(value) : { resultType: 'complete', ...value }
  } catch (e) {
    if (!(e instanceof InputRequired)) throw e
    return { resultType: 'input_required', inputRequests: e.requests, requestState: e.state }
  }
}

async function modern(request, response, message) {
  if (message.id === undefined) return response.writeHead(202).end()
  const send = (other) => {
    if (!response.headersSent) response.writeHead(200, SSE)
    response.write(`data: ${JSON.stringify(other)}\n\n`)
  }
  const last = (status, answer) => {
    if (response.headersSent) return response.end(`data: ${JSON.stringify(answer)}\n\n`)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
  try {
    check(request, message)
    if (message.method === 'subscriptions/listen') return subscribe(message, response, send)
    const value = await modernAnswer(message, send)
    last(200, result(message.id, { ...value, _meta: { [META + 'serverInfo']: SERVER } }))
  } catch (e) {
    const unframed = [-32020, -32021, -32022].includes(e.code) || (e.code === -32602 && e.message.startsWith('params.'))
    last(e.code === -32601 ? 404 : unframed ? 400 : 200, failure(message.id, e))
  }
}

function subscribe({ id, params }, response, send) {
  const wanted = params.notifications ?? {}
  const tagged = (message) => send({
    ...message, params: { ...message.params, _meta: { [META + 'subscriptionId']: id } },
  })
  const watcher = (kind, message) => {
    if (wanted[`${kind}ListChanged`] || wanted.resourceSubscriptions?.includes(kind)) tagged(message)
  }
  tagged({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications: wanted } })
  watchers.add(watcher)
  response.on('close', () => watchers.delete(watcher))
}

// ---------------------------------------------------------------- HTTP, either

const LOCAL = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

async function handle(request, response) {
  const refuse = (status, code, words) => response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify(failure(null, new Fault(code, words))))
  const { host = '', origin = 'http://localhost', accept = '' } = request.headers
  if (!LOCAL.test(host) || !LOCAL.test(origin)) return refuse(403, -32000, 'this host or origin is not allowed')
  if (new URL(request.url, 'http://localhost').pathname !== '/mcp') return refuse(404, -32000, 'only /mcp is served')
  if (request.method === 'GET' || request.method === 'DELETE') return old(request, response)
  if (request.method !== 'POST') return refuse(405, -32000, 'this method is not allowed')
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    return refuse(406, -32000, 'Accept must name application/json and text/event-stream')
  }
  if (!request.headers['content-type']?.startsWith('application/json')) {
    return refuse(415, -32000, 'Content-Type must be application/json')
  }
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  let message
  try {
    message = JSON.parse(body)
  } catch {
    return refuse(400, -32700, 'Parse error')
  }
  if (!message || typeof message !== 'object' || Array.isArray(message)) {
    return refuse(400, -32600, 'a message must be an object, and only one')
  }
  const { 'mcp-method': named, 'mcp-protocol-version': version } = request.headers
  // Some clients of the old era name the method in a header, too.
  const isModern = version === MODERN || message.params?._meta?.[META + 'protocolVersion']
    || (named && message.method !== 'initialize')
  return isModern ? modern(request, response, message) : old(request, response, message)
}

const at = process.argv.indexOf('--http')
if (at < 0) {
  stdio()
} else {
  const server = createServer((request, response) => {
    handle(request, response).catch((e) => (response.headersSent ? response.destroy(e) : response.writeHead(500).end()))
  }).listen(Number(process.argv[at + 1] ?? 0), '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}/mcp`)
  })
}
