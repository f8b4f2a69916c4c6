import { useComputed } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import { get, may, team } from '../api'
import { sandboxes } from '../live'
import { Machine } from '../parts/machine'
import { href } from '../router'
import { clock, Failed, Meter, useLoad } from '../ui'

const Chart = lazy(() => import('../parts/chart'))

interface TeamMetric {
  timestampUnix: number
  concurrentSandboxes: number
  sandboxStartRate: number
}

interface Limits {
  limits: Record<string, number | null>
  use: { sandboxes: number; vcpus: number; memoryMB: number; diskMB: number | null }
}

interface Event {
  id: string
  type: string
  timestamp: string
  sandboxId: string
}

/** How many were created in the last minute: each reading has the rate since the one before. */
function perMinute(rows: TeamMetric[]): number {
  const from = Date.now() / 1000 - 60
  return Math.round(
    rows.reduce((sum, { timestampUnix, sandboxStartRate }, at) => {
      const before = Math.max(from, rows[at - 1]?.timestampUnix ?? timestampUnix)
      return timestampUnix > from ? sum + sandboxStartRate * Math.max(0, timestampUnix - before) : sum
    }, 0),
  )
}

export function Overview() {
  const id = team.value?.id ?? ''
  const metrics = useLoad(
    (end) => get<TeamMetric[]>(`/teams/${id}/metrics?start=${Math.floor(Date.now() / 1000) - 3600}`, end),
    [id],
    10_000,
  )
  const limits = useLoad((end) => (may.value.all ? get<Limits>('/limits', end) : Promise.resolve(undefined)), [id], 10_000)
  const events = useLoad((end) => get<Event[]>('/events/sandboxes?limit=12', end), [id], 5000)
  const states = useComputed(() => {
    const count: Record<string, number> = { running: 0, paused: 0 }
    for (const { state } of sandboxes.value?.values() ?? []) count[state] = (count[state] ?? 0) + 1
    return count
  })
  const byTemplate = useComputed(() => {
    const count = new Map<string, number>()
    for (const one of sandboxes.value?.values() ?? []) {
      const name = one.alias ?? one.templateID
      count.set(name, (count.get(name) ?? 0) + 1)
    }
    return [...count].sort((a, b) => b[1] - a[1]).slice(0, 8)
  })
  const rows = metrics.value ?? []
  const times = rows.map(({ timestampUnix }) => timestampUnix)
  const rate = perMinute(rows)
  const use = limits.value?.use
  const limit = limits.value?.limits ?? {}
  return (
    <section>
      <header class="page">
        <h1>Overview</h1>
      </header>
      <div class="tiles">
        <a class="tile" href={href('/?state=running')}>
          <b>{states.value['running']}</b> running
        </a>
        <a class="tile" href={href('/?state=paused')}>
          <b>{states.value['paused']}</b> paused
        </a>
        <div class="tile">
          <b>{rate}</b> created in a minute
        </div>
        {use && (
          <>
            <div class="tile">
              <b>{use.vcpus}</b> CPUs in use {limit['vcpus'] ? `of ${limit['vcpus']}` : ''}
            </div>
            <div class="tile">
              <b>{(use.memoryMB / 1024).toFixed(1)}</b> GB of memory given out {limit['memoryMB'] ? `of ${(limit['memoryMB']! / 1024).toFixed(0)}` : ''}
            </div>
          </>
        )}
      </div>
      {may.value.all && <Machine />}
      {metrics.error && <Failed text={metrics.error} />}
      {rows.length > 0 && (
        <Suspense fallback={<p class="loading">Loading…</p>}>
          <div class="charts">
            <Chart
              title="Running sandboxes, last hour"
              times={times}
              lines={[{ name: 'Running', values: rows.map((row) => row.concurrentSandboxes), color: '--chart-2' }]}
              format={(value) => value.toFixed(0)}
              least={4}
            />
            <Chart
              title="Created per minute, last hour"
              times={times}
              lines={[{ name: 'Created', values: rows.map((row) => row.sandboxStartRate * 60), color: '--chart-1' }]}
              format={(value) => value.toFixed(0)}
              least={4}
            />
          </div>
        </Suspense>
      )}
      <div class="columns">
        <div>
          <h2>By template</h2>
          {byTemplate.value.length === 0 ? (
            <p class="dim">No sandboxes.</p>
          ) : (
            <table>
              <tbody>
                {byTemplate.value.map(([name, count]) => (
                  <tr key={name}>
                    <td class="cut">
                      <a href={href('/?template=' + encodeURIComponent(name))}>{name}</a>
                    </td>
                    <td>
                      <Meter part={count / (sandboxes.value?.size || 1)} label={String(count)} alarm={false} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
        <div>
          <h2>Latest events</h2>
          {events.error ? (
            <Failed text={events.error} />
          ) : (
            <table>
              <tbody>
                {events.value?.map((one) => (
                  <tr key={one.id}>
                    <td class="dim num">{clock(one.timestamp)}</td>
                    <td>{one.type.replace('sandbox.lifecycle.', '')}</td>
                    <td class="mono cut">
                      <a href={href('/sandboxes/' + one.sandboxId)}>{one.sandboxId}</a>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      </div>
    </section>
  )
}
