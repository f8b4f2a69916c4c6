// A notebook of cells that run in the sandbox.
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { message, Port, PORTS } from '../api'
import type { PartProps } from '../parts/part'
import { plain } from '../plain'
import { attempt, Icon } from '../ui'
import { LANGUAGES, restart, run, type Language, type Output } from './run'
import { Shown } from './shown'

interface Cell {
  id: number
  language: Language
  code: string
  count?: number
  output?: Output
  running?: AbortController
}

const KEPT = 'cay.cells.'
const MOST_TEXT = 200_000
const MOST_RESULTS = 100
const NAMES: Record<Language, string> = { python: 'Python', javascript: 'JavaScript', typescript: 'TypeScript', r: 'R', java: 'Java', bash: 'Bash' }

let next = 1

/** The cells of each sandbox, while the dashboard is open; their code as long as the tab of the browser is. */
const known = new Map<string, Cell[]>()

function recall(id: string): Cell[] {
  const cells = known.get(id)
  if (cells) return cells
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT + id) ?? '[]') as { language: Language; code: string }[]
    const found = kept.filter(({ language, code }) => LANGUAGES.includes(language) && typeof code === 'string')
    if (found.length) return found.map(({ language, code }) => ({ id: next++, language, code }))
  } catch {
    // Not ours, or a browser that keeps nothing.
  }
  return [{ id: next++, language: 'python', code: '' }]
}

export default function Code({ id, envd, detail }: PartProps) {
  const port = useMemo(() => new Port(id, PORTS.interpreter, detail.envdAccessToken), [envd])
  const cells = useSignal<Cell[]>(recall(id))
  const focus = useSignal(0)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    known.set(id, cells.value)
    try {
      sessionStorage.setItem(KEPT + id, JSON.stringify(cells.value.map(({ language, code }) => ({ language, code }))))
    } catch {
      // A browser that keeps nothing, or not so much.
    }
  }, [cells.value])
  useEffect(() => {
    if (focus.value) box.current?.querySelector<HTMLTextAreaElement>(`[data-cell="${focus.value}"] textarea`)?.focus()
  }, [focus.value])
  const change = (of: number, with_: Partial<Cell>) => {
    const changed = cells.value.map((cell) => (cell.id === of ? { ...cell, ...with_ } : cell))
    known.set(id, changed)
    cells.value = changed
  }
  const add = (language: Language) => {
    const cell: Cell = { id: next++, language, code: '' }
    cells.value = [...cells.value, cell]
    focus.value = cell.id
  }
  const start = async (cell: Cell) => {
    if (cell.running || !cell.code.trim()) return
    const running = new AbortController()
    let output: Output = { streams: [], results: [] }
    // What comes between two frames is shown at once.
    let frame = 0
    const show = (made: Output) => {
      output = made
      frame ||= requestAnimationFrame(() => {
        frame = 0
        change(cell.id, { output })
      })
    }
    const { count: _, ...fresh } = cell
    cells.value = cells.value.map((one) => (one.id === cell.id ? { ...fresh, output, running } : one))
    try {
      for await (const event of run(port, cell.code, cell.language, running.signal)) {
        if (event.type === 'number_of_executions') change(cell.id, { count: Number(event.execution_count) })
        else if (event.type === 'stdout' || event.type === 'stderr') show(withText(output, event.type, String(event.text)))
        else if (event.type === 'result') show({ ...output, results: [...output.results, event].slice(-MOST_RESULTS) })
        else if (event.type === 'error') {
          show({ ...output, error: errorText(String(event.name), String(event.value), String(event.traceback)) })
        }
      }
    } catch (e) {
      const text = running.signal.aborted ? 'You stopped this cell.' : message(e)
      show({ ...output, error: text })
    }
    const ended = cells.value.find((one) => one.id === cell.id)
    if (ended) {
      const { running: _, ...rest } = ended
      cells.value = cells.value.map((one) => (one.id === cell.id ? rest : one))
    }
  }
  const keys = (event: KeyboardEvent, at: number) => {
    if (event.key !== 'Enter' || !(event.shiftKey || event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    const cell = cells.value[at]!
    void start(cell)
    if (!event.shiftKey) return
    const after = cells.value[at + 1]
    if (after) focus.value = after.id
    else add(cell.language)
  }
  return (
    <div class="cells" ref={box}>
      {cells.value.map((cell, at) => (
        <section class="cell" key={cell.id} data-cell={cell.id} aria-label={`Cell ${at + 1}`}>
          <header>
            <select
              aria-label="Language"
              value={cell.language}
              onChange={(e) => change(cell.id, { language: e.currentTarget.value as Language })}
            >
              {LANGUAGES.map((name) => (
                <option key={name} value={name}>
                  {NAMES[name]}
                </option>
              ))}
            </select>
            <span class="count" role="status">
              {cell.running ? 'running…' : cell.count ? `[${cell.count}]` : ''}
            </span>
            {cell.running ? (
              <button type="button" onClick={() => cell.running?.abort()}>
                Stop
              </button>
            ) : (
              <button type="button" class="primary" title="Ctrl+Enter; Shift+Enter goes to the next cell" disabled={!cell.code.trim()} onClick={() => start(cell)}>
                Run
              </button>
            )}
            <button
              type="button"
              class="icon"
              aria-label="Remove the cell"
              title="Remove"
              disabled={cell.running !== undefined || cells.value.length === 1}
              onClick={() => (cells.value = cells.value.filter((one) => one.id !== cell.id))}
            >
              <Icon of="close" />
            </button>
          </header>
          <textarea
            class="source"
            aria-label="Code"
            rows={Math.min(24, Math.max(3, cell.code.split('\n').length))}
            value={cell.code}
            placeholder={at === 0 ? 'Shift+Enter runs it' : ''}
            spellcheck={false}
            autocapitalize="off"
            onInput={(e) => change(cell.id, { code: e.currentTarget.value })}
            onKeyDown={(e) => keys(e, at)}
          />
          {cell.output && <Shown output={cell.output} running={cell.running !== undefined} />}
        </section>
      ))}
      <div class="strip">
        <button type="button" id="new-cell" onClick={() => add(cells.value.at(-1)?.language ?? 'python')}>
          + New cell
        </button>
        <button
          type="button"
          title="All languages forget their variables"
          onClick={() => attempt(() => restart(port), 'All languages begin again')}
        >
          Restart
        </button>
      </div>
    </div>
  )
}

/** The traceback, whose parts come without line breaks between them. */
function errorText(name: string, value: string, traceback: string): string {
  const parts = plain(traceback)
    .replace(/^-{20,}\n?/, '')
    .replace(/ {4,}(?=Traceback \()/, '  ')
    .replace(/(\(most recent call last\):?)(?=\S)/, '$1\n')
  return (parts || [name, value].filter(Boolean).join(': ') || 'The cell failed.').slice(0, MOST_TEXT)
}

/** Adds text; a line that is written over, as bars of progress are, is shown as it was last. */
function withText(output: Output, name: 'stdout' | 'stderr', text: string): Output {
  const last = output.streams.at(-1)
  const before = last?.name === name ? last.text : ''
  const joined = (before + text.replace(/\r\n/g, '\n')).replace(/[^\n]*\r(?=[^\n])/g, '')
  const streams = [...(last?.name === name ? output.streams.slice(0, -1) : output.streams), { name, text: joined.slice(-MOST_TEXT) }]
  return { ...output, streams: streams.slice(-200) }
}
