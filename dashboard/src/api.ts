// Calls of this server: the session of the browser, the API, and envd of one sandbox.
import { computed, signal } from '@preact/signals'

const ROOT = '/dashboard'

export interface Team {
  id: string
  name: string
  scope: string
}

export interface Session {
  signedIn: boolean
  issuer?: string
  name?: string
  person?: boolean
  token?: string
  teams?: Team[]
  domain?: string
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** Who is signed in; null until the server has answered. */
export const session = signal<Session | null>(null)
const wantedTeam = signal(read('team'))

export const team = computed<Team | undefined>(() => {
  const teams = session.value?.teams ?? []
  return teams.find(({ id }) => id === wantedTeam.value) ?? teams[0]
})

export function chooseTeam(id: string): void {
  write('team', id)
  wantedTeam.value = id
}

/** What the rights of the viewer allow; the server decides again for each call. */
export const may = computed(() => {
  const scope = team.value?.scope ?? ''
  const all = scope === 'all'
  return {
    all,
    open: all || scope === 'sandboxes' || scope.startsWith('sandbox:'),
    create: all || scope === 'sandboxes',
    templates: all || scope === 'templates',
    see: all || scope === 'read',
    seeTemplates: all || scope === 'templates' || scope === 'read',
  }
})

export function read(key: string): string | null {
  try {
    return localStorage.getItem('cay.' + key)
  } catch {
    return null
  }
}

export function write(key: string, value: string): void {
  try {
    localStorage.setItem('cay.' + key, value)
  } catch {
    // A browser that keeps nothing still works.
  }
}

export async function loadSession(): Promise<void> {
  const answer = await fetch(ROOT + '/session', { cache: 'no-store' })
  if (!answer.ok) throw await failure(answer)
  session.value = (await answer.json()) as Session
}

export async function signIn(apiKey: string): Promise<void> {
  const answer = await fetch(ROOT + '/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey }),
  })
  if (!answer.ok) throw await failure(answer)
  await loadSession()
}

export async function signOut(): Promise<void> {
  await fetch(ROOT + '/session', { method: 'DELETE' })
  sessionStorage.clear()
  await loadSession()
}

async function failure(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => '')
  let message = text.slice(0, 500)
  try {
    const body = JSON.parse(text) as { message?: unknown }
    if (typeof body.message === 'string') message = body.message
  } catch {
    // No JSON.
  }
  return new ApiError(answer.status, message || `the server answered ${answer.status}`)
}

function headers(): Record<string, string> {
  const known: Record<string, string> = { 'X-Cay-Dashboard': session.value?.token ?? '' }
  if (session.value?.person && team.value) known['X-Team-ID'] = team.value.id
  return known
}

async function send(path: string, options: RequestInit): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(`${ROOT}/api${path}`, { cache: 'no-store', ...options })
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e
    throw new ApiError(0, 'the server cannot be reached')
  }
  if (answer.ok) return answer
  const error = await failure(answer)
  // A session that is over sends everybody to the sign-in, and comes back to the same address.
  if (error.status === 401) await loadSession().catch(() => undefined)
  throw error
}

/** A call of the API with JSON both ways. */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const options: RequestInit = { method, headers: headers() }
  if (signal) options.signal = signal
  if (body !== undefined) {
    options.headers = { ...headers(), 'Content-Type': 'application/json' }
    options.body = JSON.stringify(body)
  }
  const answer = await send(path, options)
  const text = await answer.text()
  return (text ? JSON.parse(text) : undefined) as T
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>('GET', path, undefined, signal)

/** An answer that is no JSON. */
export async function text(path: string, signal: AbortSignal): Promise<string> {
  return (await send(path, { headers: headers(), signal })).text()
}

/** All pages of a list. */
export async function all<T>(path: string, most = 1000): Promise<T[]> {
  const found: T[] = []
  let next: string | null = null
  do {
    const join = path.includes('?') ? '&' : '?'
    const answer: Response = await send(next ? `${path}${join}nextToken=${encodeURIComponent(next)}` : path, { headers: headers() })
    found.push(...((await answer.json()) as T[]))
    next = answer.headers.get('X-Next-Token')
  } while (next && found.length < most)
  return found
}

/** Server-sent events, by name, until the stream ends. */
export async function follow(path: string, heard: (event: string, data: string) => void, signal: AbortSignal): Promise<void> {
  const answer = await send(path, { headers: headers(), signal })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const lines = block.split('\n')
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7)
      const data = lines.find((line) => line.startsWith('data: '))?.slice(6)
      if (event && data) heard(event, data)
    }
  }
}

/** What Cay itself answers in a sandbox. */
export const PORTS = { envd: 49983, interpreter: 49999, mcp: 50005 }

/** A port of one sandbox that Cay itself answers. */
export class Port {
  constructor(
    readonly sandbox: string,
    private readonly port: number,
    private readonly token: string | undefined,
  ) {}

  protected headers(more: Record<string, string> = {}): Record<string, string> {
    const known: Record<string, string> = {
      ...headers(),
      'E2b-Sandbox-Id': this.sandbox,
      'E2b-Sandbox-Port': String(this.port),
      ...more,
    }
    if (this.token) known['X-Access-Token'] = this.token
    return known
  }

  /** @param body JSON */
  send(method: string, path: string, body?: string, signal?: AbortSignal, more: Record<string, string> = {}): Promise<Response> {
    const options: RequestInit = { method, headers: this.headers(body === undefined ? more : { 'Content-Type': 'application/json', ...more }) }
    if (body !== undefined) options.body = body
    if (signal) options.signal = signal
    return send(path, options)
  }
}

/** The system port of one sandbox. */
export class Envd extends Port {
  constructor(
    sandbox: string,
    token: string | undefined,
    private readonly user: string | undefined = undefined,
  ) {
    super(sandbox, PORTS.envd, token)
  }

  protected override headers(more: Record<string, string> = {}): Record<string, string> {
    const known = super.headers(more)
    if (this.user) known['Authorization'] = 'Basic ' + btoa(this.user + ':')
    return known
  }

  async call<T>(method: string, body: unknown): Promise<T> {
    const answer = await send('/' + method, {
      method: 'POST',
      headers: this.headers({ 'Content-Type': 'application/json', 'Connect-Protocol-Version': '1' }),
      body: JSON.stringify(body),
    })
    return (await answer.json()) as T
  }

  /** Messages of a stream of the Connect protocol, in JSON. */
  async *stream<T>(method: string, body: unknown, signal: AbortSignal, more: Record<string, string> = {}): AsyncGenerator<T> {
    const payload = new TextEncoder().encode(JSON.stringify(body))
    const envelope = new Uint8Array(5 + payload.length)
    new DataView(envelope.buffer).setUint32(1, payload.length)
    envelope.set(payload, 5)
    const answer = await send('/' + method, {
      method: 'POST',
      headers: this.headers({
        'Content-Type': 'application/connect+json',
        'Connect-Protocol-Version': '1',
        'Keepalive-Ping-Interval': '20',
        ...more,
      }),
      body: envelope,
      signal,
    })
    const reader = answer.body!.getReader()
    let held = new Uint8Array(0)
    for (;;) {
      while (held.length >= 5) {
        const view = new DataView(held.buffer, held.byteOffset)
        const length = view.getUint32(1)
        if (held.length < 5 + length) break
        const message = JSON.parse(new TextDecoder().decode(held.subarray(5, 5 + length)))
        if (view.getUint8(0) & 2) {
          if (message.error) throw new ApiError(0, message.error.message ?? message.error.code)
          return
        }
        held = held.subarray(5 + length)
        yield message as T
      }
      const { done, value } = await reader.read()
      if (done) throw new ApiError(0, 'the connection was cut')
      const longer = new Uint8Array(held.length + value.length)
      longer.set(held)
      longer.set(value, held.length)
      held = longer
    }
  }

  /** Ports on which something inside listens. */
  async listening(signal: AbortSignal): Promise<number[]> {
    const answer = await this.send('GET', '/ports', undefined, signal)
    return ((await answer.json()) as { listening: number[] }).listening
  }

  async file(path: string): Promise<Blob> {
    const answer = await send('/files?path=' + encodeURIComponent(path), { headers: this.headers() })
    return answer.blob()
  }

  async write(path: string, content: Blob): Promise<void> {
    const form = new FormData()
    form.append('file', content, path)
    await send('/files?path=' + encodeURIComponent(path), { method: 'POST', headers: this.headers(), body: form })
  }
}

/** The files of one volume, which its token opens. */
export class VolumeFiles {
  constructor(
    readonly id: string,
    private readonly token: string,
  ) {}

  /** @param part `path`, `dir` or `file` */
  send(method: string, part: string, path: string, options: { query?: string; body?: Blob } = {}): Promise<Response> {
    const query = `path=${encodeURIComponent(path)}${options.query ? '&' + options.query : ''}`
    const request: RequestInit = { method, headers: { ...headers(), Authorization: 'Bearer ' + this.token } }
    if (options.body) request.body = options.body
    return send(`/volumecontent/${this.id}/${part}?${query}`, request)
  }
}

export const message = (e: unknown): string => (e instanceof Error ? e.message : String(e))
