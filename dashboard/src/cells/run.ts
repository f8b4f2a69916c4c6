// Runs cells of code in a sandbox, through the port of its interpreter.
import { ApiError, type Port } from '../api'

export const LANGUAGES = ['python', 'javascript', 'typescript', 'r', 'java', 'bash'] as const
export type Language = (typeof LANGUAGES)[number]

/** A value that a cell shows, by formats. It comes from the sandbox: nothing in it can be relied on. */
export interface Result {
  text?: unknown
  html?: unknown
  markdown?: unknown
  latex?: unknown
  svg?: unknown
  png?: unknown
  jpeg?: unknown
  pdf?: unknown
  json?: unknown
  javascript?: unknown
  data?: unknown
  chart?: unknown
}

/** What a cell has shown so far. */
export interface Output {
  streams: { name: 'stdout' | 'stderr'; text: string }[]
  results: Result[]
  error?: string
}

export type Event =
  | { type: 'number_of_executions'; execution_count: number }
  | { type: 'stdout' | 'stderr'; text: string }
  | ({ type: 'result' } & Result)
  | { type: 'error'; name: string; value: string; traceback: string }
  | { type: 'keepalive' | 'end_of_execution' }

const LONGEST_LINE = 64 * 2 ** 20

/** What a cell gives, until it ends. The interpreter interrupts a cell whose reader goes away. */
export async function* run(port: Port, code: string, language: Language, signal: AbortSignal): AsyncGenerator<Event> {
  const answer = await port.send('POST', '/execute', JSON.stringify({ code, language }), signal)
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let parts: string[] = []
  let held = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new ApiError(0, 'the connection was cut')
    const lines = value.split('\n')
    for (let at = 0; at < lines.length; at++) {
      parts.push(lines[at]!)
      held += lines[at]!.length
      if (held > LONGEST_LINE) throw new ApiError(0, 'the cell shows more than this page can hold')
      if (at === lines.length - 1) break
      const line = parts.join('')
      parts = []
      held = 0
      if (!line) continue
      const event = JSON.parse(line) as Event
      if (event.type === 'end_of_execution') return
      yield event
    }
  }
}

/** Begins all contexts again: variables are gone. */
export async function restart(port: Port): Promise<void> {
  const contexts = (await (await port.send('GET', '/contexts')).json()) as { id: string }[]
  await Promise.all(contexts.map(({ id }) => port.send('POST', `/contexts/${encodeURIComponent(id)}/restart`)))
}
