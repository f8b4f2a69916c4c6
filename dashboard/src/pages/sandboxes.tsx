import { computed, signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { extend, kill, pause, resume } from '../actions'
import { get, may, session, team } from '../api'
import { keyName, loadKeyNames } from '../keys'
import { sandboxes, type Sandbox } from '../live'
import { go, href, query, setQuery } from '../router'
import { BulkBar, type BulkAction } from '../table'
import { attempt, Ago, copy, Empty, Icon, Left, Meter, size, State } from '../ui'
import { Create } from './create'

interface Metric {
  cpuUsedPct: number
  memUsed: number
  memTotal: number
}

const ROW = 44
const MOST_TAGS = 3
/** Rows that exist above and below those in sight. They are made anew when so many, halved, were scrolled. */
const MARGIN = 10
const STEP = (MARGIN / 2) * ROW

const picked = signal<ReadonlySet<string>>(new Set())

const volumes = (one: Sandbox): string[] => one.volumeMounts.map(({ name }) => name)
const keyOf = (one: Sandbox): string => (one.keyID ? keyName(one.keyID) : '')

/** Words of the search: `key=value` compares metadata, anything else looks everywhere. */
function matches(one: Sandbox, words: string[]): boolean {
  return words.every((word) => {
    const at = word.indexOf('=')
    if (at > 0) return (one.metadata[word.slice(0, at)] ?? '').toLowerCase() === word.slice(at + 1)
    const texts = [one.sandboxID, one.templateID, one.alias ?? '', ...Object.entries(one.metadata).flat(), ...volumes(one), keyOf(one)]
    return texts.some((text) => text.toLowerCase().includes(word))
  })
}

const found = computed(() => {
  const state = query.value.get('state')
  const template = query.value.get('template')
  const words = (query.value.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const group = query.value.get('group')
  const list = [...(sandboxes.value?.values() ?? [])].filter(
    (one) =>
      (!state || one.state === state) && (!template || (one.alias ?? one.templateID) === template) && matches(one, words),
  )
  const of = (one: Sandbox) => (group ? (one.metadata[group] ?? '') : '')
  return list.sort((a, b) => of(a).localeCompare(of(b)) || b.startedAt.localeCompare(a.startedAt) || a.sandboxID.localeCompare(b.sandboxID))
})

type Row = { header: string; count: number } | { one: Sandbox }

const rows = computed<Row[]>(() => {
  const group = query.value.get('group')
  if (!group) return found.value.map((one) => ({ one }))
  const all: Row[] = []
  let header: { header: string; count: number } | undefined
  for (const one of found.value) {
    const value = one.metadata[group] ?? ''
    if (!header || header.header !== value) all.push((header = { header: value, count: 0 }))
    header.count++
    all.push({ one })
  }
  return all
})

const name = (one: Sandbox): string => one.alias ?? one.templateID

const ids = (chosen: Sandbox[]) => chosen.map(({ sandboxID }) => sandboxID)
const isRunning = ({ state }: Sandbox) => state === 'running'
const COPY: BulkAction<Sandbox> = { name: 'Copy ids', run: (chosen) => copy(ids(chosen).join('\n')) }
const CHANGES: BulkAction<Sandbox>[] = [
  { name: 'Pause', applies: isRunning, run: (chosen) => pause(ids(chosen)) },
  { name: 'Resume', applies: ({ state }) => state === 'paused', run: (chosen) => resume(ids(chosen)) },
  { name: '1 hour from now', applies: isRunning, run: (chosen) => extend(ids(chosen), 3600) },
  { name: 'Kill', danger: true, run: (chosen) => kill(ids(chosen)) },
]

function toggle(id: string, on: boolean): void {
  const next = new Set(picked.value)
  if (on) next.add(id)
  else next.delete(id)
  picked.value = next
}

export function Sandboxes() {
  const creating = useSignal(false)
  useEffect(loadKeyNames, [team.value?.id])
  const all = sandboxes.value
  const list = found.value
  const chosen = useComputed(() => found.value.filter(({ sandboxID }) => picked.value.has(sandboxID)))
  const templates = [...new Set([...(all?.values() ?? [])].map(name))].sort()
  const keys = [...new Set([...(all?.values() ?? [])].flatMap(({ metadata }) => Object.keys(metadata)))].sort()
  const running = list.filter(({ state }) => state === 'running').length
  if (team.value?.scope.startsWith('sandbox:')) go('/sandboxes/' + team.value.scope.slice(8), true)
  return (
    <section>
      <header class="page">
        <h1>Sandboxes</h1>
        <span class="counts">
          <b>{running}</b> running{list.length > running && [', ', <b key="p">{list.length - running}</b>, ' paused']}
          {all && list.length < all.size && ` of ${all.size}`}
        </span>
        {may.value.create && (
          <button type="button" class="primary" id="create" title="c" onClick={() => (creating.value = true)}>
            New sandbox
          </button>
        )}
      </header>
      <div class="filters" role="search">
        <input
          type="search"
          placeholder="Search ids, templates, metadata, key=value"
          aria-label="Search"
          title="/"
          value={query.value.get('q') ?? ''}
          onInput={(e) => setQuery({ q: e.currentTarget.value })}
        />
        <select aria-label="State" value={query.value.get('state') ?? ''} onChange={(e) => setQuery({ state: e.currentTarget.value })}>
          <option value="">any state</option>
          <option>running</option>
          <option>paused</option>
        </select>
        <select
          aria-label="Template"
          value={query.value.get('template') ?? ''}
          onChange={(e) => setQuery({ template: e.currentTarget.value })}
        >
          <option value="">any template</option>
          {templates.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {keys.length > 0 && (
          <select aria-label="Group by" value={query.value.get('group') ?? ''} onChange={(e) => setQuery({ group: e.currentTarget.value })}>
            <option value="">no groups</option>
            {keys.map((key) => (
              <option key={key} value={key}>
                by {key}
              </option>
            ))}
          </select>
        )}
      </div>
      {chosen.value.length > 0 && (
        <BulkBar label="Sandboxes" chosen={chosen.value} actions={may.value.open ? [...CHANGES, COPY] : [COPY]} onDone={() => (picked.value = new Set())} />
      )}
      {!all ? (
        <p class="loading">Loading…</p>
      ) : list.length === 0 ? (
        <Empty>
          {all.size > 0 ? (
            <p>No sandbox matches.</p>
          ) : (
            <>
              <p>No sandboxes yet.</p>
              <pre>{`import { Sandbox } from 'e2b'\nconst sandbox = await Sandbox.create()`}</pre>
              <p>They appear here as soon as a program creates one.</p>
            </>
          )}
        </Empty>
      ) : (
        <List />
      )}
      {creating.value && <Create onClose={() => (creating.value = false)} />}
    </section>
  )
}

/** Only the rows in sight exist, so that thousands scroll well. */
function List() {
  const top = useSignal(0)
  const height = useSignal(900)
  const table = useRef<HTMLDivElement>(null)
  const metrics = useSignal<Record<string, Metric>>({})
  useEffect(() => {
    const look = () => {
      const box = table.current?.getBoundingClientRect()
      if (!box) return
      top.value = Math.floor(Math.max(0, -box.top) / STEP) * STEP
      height.value = innerHeight
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [])
  const list = rows.value
  const first = Math.max(0, Math.floor(top.value / ROW) - MARGIN)
  const shown = list.slice(first, Math.ceil((top.value + height.value) / ROW) + MARGIN)
  const ids = shown.flatMap((row) => ('one' in row && row.one.state === 'running' ? [row.one.sandboxID] : [])).join(',')
  useEffect(() => {
    const end = new AbortController()
    const load = () => {
      if (!ids || document.hidden) return
      get<{ sandboxes: Record<string, Metric> }>(`/sandboxes/metrics?sandbox_ids=${ids}`, end.signal)
        .then((answer) => (metrics.value = answer.sandboxes))
        .catch(() => undefined)
    }
    load()
    const timer = setInterval(load, 5000)
    return () => {
      end.abort()
      clearInterval(timer)
    }
  }, [ids, session.value])
  const every = found.value.every(({ sandboxID }) => picked.value.has(sandboxID))
  return (
    <div class="table" role="table" aria-label="Sandboxes" aria-rowcount={list.length + 1}>
      <div class="tr head" role="row">
        <span role="columnheader" class="check">
          <input
            type="checkbox"
            aria-label="All that match"
            checked={every}
            onChange={(e) => (picked.value = new Set(e.currentTarget.checked ? found.value.map(({ sandboxID }) => sandboxID) : []))}
          />
        </span>
        <span role="columnheader">Sandbox</span>
        <span role="columnheader">State</span>
        <span role="columnheader">Template</span>
        <span role="columnheader" class="wide">Metadata</span>
        <span role="columnheader" class="vast">Key</span>
        <span role="columnheader" class="wide right">CPU</span>
        <span role="columnheader" class="wide right">Memory</span>
        <span role="columnheader" class="mid">Started</span>
        <span role="columnheader">Time left</span>
        <span role="columnheader" class="acts">
          <span class="sr">Actions</span>
        </span>
      </div>
      <div ref={table} role="rowgroup" style={{ height: list.length * ROW + 'px', position: 'relative' }}>
        <div style={{ transform: `translateY(${first * ROW}px)` }}>
          {shown.map((row, at) =>
            'one' in row ? (
              <Line key={row.one.sandboxID} one={row.one} metric={metrics.value[row.one.sandboxID]} index={first + at + 2} />
            ) : (
              <div key={'group ' + row.header} class="tr group" role="row">
                <b role="cell">{row.header || 'none'}</b>
                <span role="cell">{row.count}</span>
              </div>
            ),
          )}
        </div>
      </div>
    </div>
  )
}

function Line({ one, metric, index }: { one: Sandbox; metric: Metric | undefined; index: number }) {
  const id = one.sandboxID
  const chosen = picked.value.has(id)
  const pairs = Object.entries(one.metadata).sort(([a], [b]) => a.localeCompare(b))
  const more = pairs.slice(MOST_TAGS).length
  return (
    <div class={chosen ? 'tr chosen' : 'tr'} role="row" aria-rowindex={index} data-id={id}>
      <span role="cell" class="check">
        <input type="checkbox" aria-label={'Choose ' + id} checked={chosen} onChange={(e) => toggle(id, e.currentTarget.checked)} />
      </span>
      <span role="cell" class="id">
        <a href={href('/sandboxes/' + id)}>{id}</a>
        <span class="sub" aria-hidden="true">
          {[name(one), ...pairs.slice(0, 2).map(([key, value]) => `${key}=${value}`)].join(' · ')}
        </span>
      </span>
      <span role="cell">
        <State state={one.state} />
      </span>
      <span role="cell" class="cut" title={one.templateID}>
        {name(one)}
      </span>
      <span role="cell" class="wide cut" title={pairs.map(([key, value]) => `${key}=${value}`).join('\n')}>
        {pairs.slice(0, MOST_TAGS).map(([key, value]) => (
          <button key={key} type="button" class="tag" title="Show only these" onClick={() => setQuery({ q: `${key}=${value}` })}>
            <i>{key}</i>
            {value}
          </button>
        ))}
        {more > 0 && <span class="dim">+{more} </span>}
        {volumes(one).map((volume) => (
          <span key={volume} class="tag" title="A volume that it has mounted">
            <i>volume</i>
            {volume}
          </span>
        ))}
      </span>
      <span role="cell" class="vast cut dim" title="The API key that it was created with">
        {keyOf(one)}
      </span>
      <span role="cell" class="wide">
        {metric && one.state === 'running' && (
          <Meter part={metric.cpuUsedPct / 100} label={`${Math.round(metric.cpuUsedPct)} %`} />
        )}
      </span>
      <span role="cell" class="wide">
        {metric && one.state === 'running' && <Meter part={metric.memUsed / metric.memTotal} label={size(metric.memUsed)} />}
      </span>
      <span role="cell" class="mid">
        <Ago at={one.startedAt} />
      </span>
      <span role="cell" class="left">
        {one.state !== 'running' ? <span class="dim">{one.durability ?? ''}</span> : <Left at={one.endAt} />}
        {one.state === 'running' && one.lifecycle.onTimeout === 'pause' && (
          <span class="then" title="Then it is paused">
            <Icon of="pause" />
            <span class="sr">, then it is paused</span>
          </span>
        )}
      </span>
      <span role="cell" class="acts">
        <button type="button" class="quiet roomy" aria-label={'Copy ' + id} title="Copy the id" onClick={() => copy(id)}>
          <Icon of="copy" />
        </button>
        {may.value.open && one.state === 'running' && (
          <button type="button" class="quiet roomy" aria-label={'1 hour from now for ' + id} title="1 hour from now" onClick={() => extend([id], 3600)}>
            <Icon of="clock" />
          </button>
        )}
        {may.value.open && (
          <>
            {one.state === 'running' ? (
              <button type="button" class="quiet" aria-label={'Pause ' + id} title="Pause" onClick={() => pause([id])}>
                <Icon of="pause" />
              </button>
            ) : (
              <button type="button" class="quiet" aria-label={'Resume ' + id} title="Resume" onClick={() => resume([id])}>
                <Icon of="play" />
              </button>
            )}
            <button type="button" class="quiet" aria-label={'Kill ' + id} title="Kill" onClick={() => attempt(() => kill([id]))}>
              <Icon of="close" />
            </button>
          </>
        )}
      </span>
    </div>
  )
}
