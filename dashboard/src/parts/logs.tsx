import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { get, message } from '../api'
import type { PartProps } from './part'
import { attempt, clock, Failed } from '../ui'
import { save } from './browser'
import { plain } from '../plain'

interface Line {
  timestamp: string
  message: string
  level: string
  fields: Record<string, string>
}

const LIMIT = 1000
const MOST_SAVED = 50_000
/** Fields that a line shows beside its message, in this order. */
const SHOWN = ['command', 'path', 'status', 'text', 'destination', 'reason']

function about({ fields }: Line): string {
  return SHOWN.map((name) => fields[name])
    .filter(Boolean)
    .join('  ')
}

const of = (line: Line): string => line.timestamp + line.message + JSON.stringify(line.fields)

/** All lines that match, oldest first. */
async function everything(id: string, filters: URLSearchParams): Promise<Line[]> {
  const query = new URLSearchParams(filters)
  query.set('direction', 'forward')
  query.set('cursor', '0')
  const found = new Map<string, Line>()
  for (;;) {
    const { logs } = await get<{ logs: Line[] }>(`/v2/sandboxes/${id}/logs?${query}`)
    const before = found.size
    for (const line of logs) found.set(of(line), line)
    if (logs.length < LIMIT || found.size === before || found.size >= MOST_SAVED) return [...found.values()]
    query.set('cursor', String(Date.parse(logs.at(-1)!.timestamp)))
  }
}

export function Logs({ id }: PartProps) {
  const lines = useSignal<Line[] | undefined>(undefined)
  const error = useSignal('')
  const search = useSignal('')
  const level = useSignal('')
  const follows = useSignal(true)
  const box = useRef<HTMLDivElement>(null)
  const filters = () => {
    const query = new URLSearchParams({ limit: String(LIMIT) })
    if (search.value) query.set('search', search.value.slice(0, 256))
    if (level.value) query.set('level', level.value)
    return query
  }
  useEffect(() => {
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    lines.value = undefined
    const load = async () => {
      try {
        const known = lines.value
        const query = filters()
        if (known?.length) {
          query.set('direction', 'forward')
          query.set('cursor', String(Date.parse(known.at(-1)!.timestamp)))
        }
        const { logs } = await get<{ logs: Line[] }>(`/v2/sandboxes/${id}/logs?${query}`, end.signal)
        if (end.signal.aborted) return
        error.value = ''
        if (!known?.length) lines.value = logs.reverse()
        else {
          const seen = new Set(known.slice(-LIMIT).map(of))
          const fresh = logs.filter((line) => !seen.has(of(line)))
          if (fresh.length) lines.value = [...known, ...fresh].slice(-5 * LIMIT)
        }
      } catch (e) {
        if (!end.signal.aborted) error.value = message(e)
      }
      if (!end.signal.aborted) timer = setTimeout(load, 2000)
    }
    timer = setTimeout(load, search.value ? 250 : 0)
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [id, search.value, level.value])
  useEffect(() => {
    if (follows.value && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines.value])
  const download = () =>
    attempt(async () => {
      const text = (await everything(id, filters())).map((line) => JSON.stringify(line)).join('\n') + '\n'
      save(new Blob([text], { type: 'application/x-ndjson' }), `${id}.log.jsonl`)
    })
  const follow = () => {
    follows.value = !follows.value
    if (follows.value && box.current) box.current.scrollTop = box.current.scrollHeight
  }
  return (
    <div>
      <div class="strip">
        <input
          type="search"
          class="grow"
          aria-label="Search the log"
          placeholder="Search"
          value={search.value}
          onInput={(e) => (search.value = e.currentTarget.value)}
        />
        <select aria-label="Level" value={level.value} onChange={(e) => (level.value = e.currentTarget.value)}>
          <option value="">all levels</option>
          <option value="info">info and above</option>
          <option value="warn">warnings</option>
          <option value="error">errors</option>
        </select>
        <button type="button" id="follow" aria-pressed={follows.value} title="New lines stay in sight" onClick={follow}>
          Follow
        </button>
        <button type="button" disabled={!lines.value?.length} onClick={download}>
          Download
        </button>
      </div>
      {error.value && <Failed text={error.value} />}
      {!lines.value ? (
        !error.value && <p class="loading">Loading…</p>
      ) : lines.value.length === 0 ? (
        <p class="empty">No lines{search.value || level.value ? ' match' : ' yet'}.</p>
      ) : (
        <div
          class="log mono"
          ref={box}
          tabIndex={0}
          role="log"
          onScroll={(e) => {
            const { scrollTop, scrollHeight, clientHeight } = e.currentTarget
            follows.value = scrollTop + clientHeight > scrollHeight - 30
          }}
        >
          {lines.value.map((line, at) => (
            <div key={at} class={'line ' + (/^[a-z]+$/.test(line.level) ? line.level : '')}>
              <time dateTime={line.timestamp}>{clock(line.timestamp)}</time>
              <span class="dim">{line.fields['logger']}</span>
              <span class="text">
                {plain(line.message)} <span class="about">{plain(about(line))}</span>
              </span>
            </div>
          ))}
        </div>
      )}
    </div>
  )
}
