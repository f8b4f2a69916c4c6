import { useComputed, useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { lazy, Suspense } from 'preact/compat'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { extend, kill, pause, resume } from '../actions'
import { Envd, get, may, team } from '../api'
import { keyName, loadKeyNames } from '../keys'
import { sandboxes } from '../live'
import { Egress } from '../parts/egress'
import { Events } from '../parts/events'
import { Files } from '../parts/files'
import { Logs } from '../parts/logs'
import { Metrics } from '../parts/metrics'
import type { Detail, PartProps } from '../parts/part'
import { Ports } from '../parts/ports'
import { Processes } from '../parts/processes'
import { Snapshots } from '../parts/snapshots'
import { Terminals } from '../parts/terminals'
import { href } from '../router'
import { Ago, copy, Failed, Guard, Icon, Left, shape, State, useLoad } from '../ui'

const Code = lazy(() => import('../cells/code'))
const Mcp = lazy(() => import('../mcp/mcp'))

interface Tab {
  key: string
  name: string
  Part: ComponentType<PartProps>
  /** Whether it needs a running sandbox that the viewer may open. */
  inside?: boolean
}

const TABS: Tab[] = [
  { key: 'terminal', name: 'Terminal', Part: Terminals, inside: true },
  { key: 'code', name: 'Code', Part: Code, inside: true },
  { key: 'files', name: 'Files', Part: Files, inside: true },
  { key: 'processes', name: 'Processes', Part: Processes, inside: true },
  { key: 'ports', name: 'Ports', Part: Ports, inside: true },
  { key: 'mcp', name: 'MCP', Part: Mcp, inside: true },
  { key: 'logs', name: 'Logs', Part: Logs },
  { key: 'metrics', name: 'Metrics', Part: Metrics },
  { key: 'events', name: 'Events', Part: Events },
  { key: 'snapshots', name: 'Snapshots', Part: Snapshots },
  { key: 'egress', name: 'Egress', Part: Egress },
]

export function SandboxPage({ id, tab }: { id: string; tab: string }) {
  const live = sandboxes.value?.get(id)
  const loaded = useLoad((end) => get<Detail>('/sandboxes/' + id, end), [id, live?.state, live?.endAt])
  const detail = loaded.value
  const envd = useMemo(() => new Envd(id, detail?.envdAccessToken), [id, detail?.envdAccessToken])
  const gone = useComputed(() => sandboxes.value !== null && !sandboxes.value.has(id))
  const seen = useSignal(false)
  if (live) seen.value = true
  const state = seen.value && gone.value ? 'killed' : (live?.state ?? detail?.state ?? '')
  const tabs = TABS.filter(({ inside }) => !inside || may.value.open)
  const current = tabs.find(({ key }) => key === tab) ?? tabs[0]!
  useEffect(loadKeyNames, [team.value?.id])
  const strip = useRef<HTMLElement>(null)
  useEffect(() => {
    strip.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current.key, detail === undefined])
  if (!detail) {
    return (
      <section>
        <header class="page">
          <h1 class="mono">{id}</h1>
        </header>
        {loaded.error ? <Missing id={id} text={loaded.error} tab={tab} /> : <p class="loading">Loading…</p>}
      </section>
    )
  }
  const { Part } = current
  return (
    <section class="one">
      <header class="page">
        <h1 class="mono">{id}</h1>
        <button type="button" class="icon" aria-label="Copy the id" title="Copy" onClick={() => copy(id)}>
          <Icon of="copy" />
        </button>
        <State state={state} />
        {may.value.open && state !== 'killed' && (
          <span class="acts">
            {state === 'running' ? (
              <>
                <button type="button" onClick={() => extend([id], 3600).then(loaded.reload)}>
                  1 hour from now
                </button>
                <button type="button" id="pause" onClick={() => pause([id]).then(loaded.reload)}>
                  Pause
                </button>
              </>
            ) : (
              <button type="button" id="resume" class="primary" onClick={() => resume([id]).then(loaded.reload)}>
                Resume
              </button>
            )}
            <button type="button" class="danger" onClick={() => kill([id]).then(loaded.reload)}>
              Kill
            </button>
          </span>
        )}
      </header>
      <dl class="facts">
        <div>
          <dt>Template</dt>
          <dd title={detail.templateID}>{detail.alias ?? detail.templateID}</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Ago at={detail.startedAt} />
          </dd>
        </div>
        <div>
          <dt>{detail.lifecycle.onTimeout === 'pause' ? 'Pauses in' : 'Ends in'}</dt>
          <dd>
            {state === 'running' ? <Left at={live?.endAt ?? detail.endAt} /> : state}
            {detail.lifecycle.autoResume && <span class="dim"> requests wake it</span>}
          </dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>
            {shape(detail)}
          </dd>
        </div>
        {detail.keyID && (
          <div>
            <dt>Created with key</dt>
            <dd class="cut" title={detail.keyID}>
              {keyName(detail.keyID)}
            </dd>
          </div>
        )}
        {detail.volumeMounts.length > 0 && (
          <div>
            <dt>Volumes</dt>
            <dd>{detail.volumeMounts.map(({ name, path }) => `${name} at ${path}`).join(', ')}</dd>
          </div>
        )}
        {Object.entries(detail.metadata).sort(([a], [b]) => a.localeCompare(b)).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd class="cut" title={value}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
      <nav class="tabs" aria-label="Parts of the sandbox" ref={strip}>
        {tabs.map(({ key, name }) => (
          <a key={key} href={href(`/sandboxes/${id}/${key}`)} aria-current={key === current.key ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {current.inside && state !== 'running' ? (
        <p class="empty">
          {state === 'killed' ? 'This sandbox has ended. Its logs, metrics and events stay for a while.' : 'The sandbox is paused. Resume it to go on.'}
        </p>
      ) : (
        <Guard key={current.key}>
          <Suspense fallback={<p class="loading">Loading…</p>}>
            <Part id={id} detail={detail} envd={envd} />
          </Suspense>
        </Guard>
      )}
    </section>
  )
}

/** A sandbox that is gone still has logs and events for a while; one that never was has none. */
function Missing({ id, text, tab }: { id: string; text: string; tab: string }) {
  const logs = useLoad((end) => get(`/v2/sandboxes/${id}/logs?limit=1`, end), [id])
  const Part = tab === 'events' ? Events : Logs
  const detail = { sandboxID: id } as Detail
  return (
    <>
      <Failed text={text} />
      {logs.value !== undefined && (
        <>
          <nav class="tabs" aria-label="Parts of the sandbox">
            <a href={href(`/sandboxes/${id}/logs`)} aria-current={Part === Logs ? 'page' : undefined}>
              Logs
            </a>
            <a href={href(`/sandboxes/${id}/events`)} aria-current={Part === Events ? 'page' : undefined}>
              Events
            </a>
          </nav>
          <Part id={id} detail={detail} envd={new Envd(id, undefined)} />
        </>
      )}
      <p>
        <a href={href('/')}>All sandboxes</a>
      </p>
    </>
  )
}
