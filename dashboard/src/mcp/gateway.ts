// Speaks with the MCP gateway of one sandbox. All of its texts may be those of servers: nothing in them can be relied on.
import { ApiError, Port, PORTS, type Envd } from '../api'

const REVISION = '2025-06-18'
const TOKEN_FILE = '/etc/mcp-gateway/.token'
const LONGEST_TOKEN = 4096
const LARGEST = 32 * 2 ** 20
const MOST_TOOLS = 2000
const LIST_LIMIT = 90_000
const CALL_LIMIT = 600_000

/** A server as the gateway tells of it. */
export interface Server {
  key: string
  state: string
  tools: number
  reason: string
  way: string
  otherWays: { way: string; reason: string }[]
  progress: string
  warning: string
  authorize: string
}

export interface Tool {
  name: string
  title: string
  description: string
  schema: Record<string, unknown>
}

export interface Result {
  content: unknown[]
  structured: unknown
  failed: boolean
}

/** The gateway's own tools, with which its servers are changed; not every gateway has them. */
export const OWN = { find: 'mcp-find', add: 'mcp-add', remove: 'mcp-remove' }

type Tree = Record<string, unknown>

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)
export const tree = (value: unknown): Tree => (isTree(value) ? value : {})
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** As a text; a value can be nested so deeply that it has none. */
export function json(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent) ?? ''
  } catch {
    return '(nested too deeply to be shown)'
  }
}

/** A signal that ends with another one, or after a while. */
function within(ms: number, end?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(ms)
  return end ? AbortSignal.any([end, limit]) : limit
}

/** The chunks of an answer, up to a size. */
async function* chunks(answer: Response, most: number): AsyncGenerator<string> {
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  try {
    for (let size = 0; ; ) {
      const { done, value } = await reader.read()
      if (done) return
      size += value.length
      if (size > most) throw new ApiError(0, 'the answer is larger than this page can hold')
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

async function whole(answer: Response, most = LARGEST): Promise<string> {
  let all = ''
  for await (const part of chunks(answer, most)) all += part
  return all
}

/** The messages of an answer, which is one of them or a stream of events. */
async function* messages(answer: Response): AsyncGenerator<Tree> {
  if (!/^text\/event-stream/i.test(answer.headers.get('Content-Type') ?? '')) {
    yield tree(JSON.parse(await whole(answer)))
    return
  }
  let rest = ''
  for await (const part of chunks(answer, LARGEST)) {
    const events = (rest + part).replace(/\r\n/g, '\n').split('\n\n')
    rest = events.pop()!
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n')
      if (data.trim()) yield tree(JSON.parse(data))
    }
  }
}

/** The token of the sandbox's gateway, which root inside can read; empty if there is none. */
export async function tokenOf(root: Envd, end: AbortSignal): Promise<string> {
  try {
    const answer = await root.send('GET', '/files?path=' + encodeURIComponent(TOKEN_FILE), undefined, within(20_000, end))
    const token = (await whole(answer, LONGEST_TOKEN)).trim()
    if (!/^[\x21-\x7e]+$/.test(token)) throw new ApiError(0, `${TOKEN_FILE} in the sandbox has no token`)
    return token
  } catch (e) {
    if (e instanceof ApiError && e.status === 404) return ''
    throw e
  }
}

/** Starts a gateway without servers, which offers the tools that add some. */
export async function startGateway(root: Envd, end: AbortSignal): Promise<void> {
  const token = Array.from(crypto.getRandomValues(new Uint8Array(24)), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const process = {
    cmd: '/bin/bash',
    args: ['-l', '-c', "mcp-gateway --config '{}' --meta-tools on"],
    envs: { GATEWAY_ACCESS_TOKEN: token },
  }
  let said = ''
  type Event = { event?: { data?: { stderr?: string }; end?: { exitCode?: number; status?: string } } }
  for await (const { event } of root.stream<Event>('process.Process/Start', { process }, within(60_000, end))) {
    said = (said + atob(event?.data?.stderr ?? '')).slice(0, 2000)
    if (event?.end?.exitCode) throw new ApiError(0, said.trim() || `mcp-gateway ended with ${event.end.status ?? event.end.exitCode}`)
  }
}

export class Gateway extends Port {
  private opening: Promise<string> | undefined
  private next = 1

  constructor(
    sandbox: string,
    private readonly bearer: string,
  ) {
    super(sandbox, PORTS.mcp, undefined)
  }

  protected override headers(more: Record<string, string> = {}): Record<string, string> {
    return { ...super.headers(more), ...(this.bearer && { Authorization: 'Bearer ' + this.bearer }) }
  }

  /** Its servers; undefined if nothing of Cay's answers there. */
  async servers(end: AbortSignal): Promise<Server[] | undefined> {
    let answer: Response
    try {
      answer = await this.send('GET', '/health', undefined, within(20_000, end))
    } catch (e) {
      if (e instanceof ApiError && e.status === 502) return undefined
      throw e
    }
    let health: Tree
    try {
      health = tree(JSON.parse(await whole(answer)))
    } catch {
      throw new ApiError(0, 'what listens at port 50005 is no gateway of Cay')
    }
    if (!isTree(health['servers'])) throw new ApiError(0, 'the gateway does not take the token that is in the sandbox')
    return Object.entries(health['servers']).map(([key, value]) => {
      const told = tree(value)
      const otherWays = list(told['otherWays']).map(tree)
      return {
        key,
        state: text(told['state']),
        tools: Number(told['tools']) || 0,
        reason: text(told['reason']),
        way: text(told['way']),
        otherWays: otherWays.map((other) => ({ way: text(other['way']), reason: text(other['reason']) })),
        progress: text(told['progress']),
        warning: text(told['warning']),
        authorize: text(told['authorize']),
      }
    })
  }

  async tools(end: AbortSignal): Promise<Tool[]> {
    const found: Tool[] = []
    let cursor: unknown
    do {
      const page = await this.request('tools/list', cursor === undefined ? {} : { cursor }, within(LIST_LIMIT, end))
      for (const tool of list(page['tools']).map(tree)) {
        if (!text(tool['name'])) continue
        found.push({
          name: text(tool['name']),
          title: text(tool['title']),
          description: text(tool['description']),
          schema: tree(tool['inputSchema']),
        })
      }
      cursor = page['nextCursor']
    } while (text(cursor) && found.length < MOST_TOOLS)
    return found
  }

  /** @param heard what the tool says of its progress */
  async call(name: string, given: unknown, end?: AbortSignal, heard?: (progress: string) => void): Promise<Result> {
    const result = await this.request('tools/call', { name, arguments: given }, within(CALL_LIMIT, end), heard)
    return { content: list(result['content']), structured: result['structuredContent'], failed: result['isError'] === true }
  }

  /** Calls one of the gateway's own tools, and gives the structured part of its result. */
  async own(name: string, given: unknown): Promise<Tree> {
    const { content, structured, failed } = await this.call(name, given)
    if (failed) throw new ApiError(0, content.map((part) => text(tree(part)['text'])).join('\n') || 'the gateway refused it')
    return tree(structured)
  }

  /** A gateway forgets sessions that nobody used for long, and all of them when the sandbox is restored. */
  private async request(method: string, params: Tree, end: AbortSignal, heard?: (progress: string) => void): Promise<Tree> {
    const session = await this.session()
    try {
      return await this.ask(session, method, params, end, heard)
    } catch (e) {
      if (!(e instanceof ApiError && e.status === 404)) throw e
      this.opening = undefined
      return this.ask(await this.session(), method, params, end, heard)
    }
  }

  private async ask(session: string, method: string, params: Tree, end: AbortSignal, heard?: (progress: string) => void): Promise<Tree> {
    const id = this.next++
    try {
      const body = { jsonrpc: '2.0', id, method, params: heard ? { ...params, _meta: { progressToken: id } } : params }
      for await (const message of messages(await this.post(session, body, end))) {
        if (message['id'] === id && 'result' in message) return tree(message['result'])
        if (message['id'] === id) throw new ApiError(0, text(tree(message['error'])['message']) || 'the gateway refused it')
        if (message['method'] === 'notifications/progress') heard?.(progressOf(tree(message['params'])))
      }
      throw new ApiError(0, 'the connection was cut before the answer came')
    } catch (e) {
      if (!end.aborted) throw e
      // A session goes on with a request whose client is gone.
      void this.post(session, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }).catch(() => undefined)
      throw new ApiError(0, (end.reason as Error | undefined)?.name === 'TimeoutError' ? 'no answer came in time' : 'stopped')
    }
  }

  private session(): Promise<string> {
    this.opening ??= this.greet().catch((e: unknown) => {
      this.opening = undefined
      throw e
    })
    return this.opening
  }

  private async greet(): Promise<string> {
    const hello = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'cay-dashboard', version: '1' } }
    const answer = await this.post('', { jsonrpc: '2.0', id: 0, method: 'initialize', params: hello })
    const session = answer.headers.get('Mcp-Session-Id') ?? ''
    for await (const message of messages(answer)) {
      if ('error' in message) throw new ApiError(0, text(tree(message['error'])['message']) || 'the gateway refused the page')
    }
    await this.post(session, { jsonrpc: '2.0', method: 'notifications/initialized' })
    return session
  }

  private post(session: string, body: Tree, end = AbortSignal.timeout(LIST_LIMIT)): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'application/json, text/event-stream' }
    if (session) Object.assign(headers, { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': REVISION })
    return this.send('POST', '/mcp', JSON.stringify(body), end, headers)
  }

  /** Ends the session, and with it the processes that servers have for it. */
  close(): void {
    const opened = this.opening
    this.opening = undefined
    void opened
      ?.then((session) => this.send('DELETE', '/mcp', undefined, undefined, { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': REVISION }))
      .catch(() => undefined)
  }
}

function progressOf(params: Tree): string {
  const { progress, total, message } = params
  const share = typeof progress === 'number' ? (typeof total === 'number' && total > 0 ? `${Math.round((100 * progress) / total)} %` : String(progress)) : ''
  return [share, text(message)].filter(Boolean).join(' ')
}
