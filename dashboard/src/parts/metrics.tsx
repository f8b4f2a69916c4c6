import { useSignal } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import { get } from '../api'
import type { PartProps } from './part'
import { Empty, Failed, size, useLoad } from '../ui'

const Chart = lazy(() => import('./chart'))

interface Metric {
  timestampUnix: number
  cpuCount: number
  cpuUsedPct: number
  memUsed: number
  memTotal: number
  memCache: number
  diskUsed: number
  diskTotal: number
  networkIn: number
  networkOut: number
}

const RANGES: [string, number][] = [
  ['5 minutes', 300],
  ['1 hour', 3600],
  ['6 hours', 6 * 3600],
  ['24 hours', 24 * 3600],
]

export function Metrics({ id }: PartProps) {
  const range = useSignal(3600)
  const loaded = useLoad(
    (end) => get<Metric[]>(`/sandboxes/${id}/metrics?start=${Math.floor(Date.now() / 1000) - range.value}`, end),
    [id, range.value],
    5000,
  )
  const rows = loaded.value ?? []
  const times = rows.map(({ timestampUnix }) => timestampUnix)
  const last = rows.at(-1)
  return (
    <div>
      <div class="strip">
        {RANGES.map(([name, seconds]) => (
          <button key={name} type="button" aria-pressed={range.value === seconds} onClick={() => (range.value = seconds)}>
            {name}
          </button>
        ))}
      </div>
      {loaded.error && <Failed text={loaded.error} />}
      {!loaded.value ? (
        <p class="loading">Loading…</p>
      ) : !last ? (
        <Empty>No readings in this time. There is one every five seconds while the sandbox runs.</Empty>
      ) : (
        <Suspense fallback={<p class="loading">Loading…</p>}>
          <div class="charts">
            <Chart
              title={`CPU, ${last.cpuUsedPct.toFixed(0)} % of ${last.cpuCount} CPUs`}
              times={times}
              lines={[{ name: 'CPU', values: rows.map((row) => row.cpuUsedPct), color: '--chart-1' }]}
              format={(value) => value.toFixed(0) + ' %'}
              least={10}
            />
            <Chart
              title={`Memory, ${size(last.memUsed)} of ${size(last.memTotal)}`}
              times={times}
              lines={[
                { name: 'Used', values: rows.map((row) => row.memUsed), color: '--chart-2' },
                { name: 'Cache', values: rows.map((row) => row.memCache), color: '--chart-3' },
              ]}
              format={size}
              least={16 << 20}
            />
            <Chart
              title={`Disk, ${size(last.diskUsed)} of ${size(last.diskTotal)}`}
              times={times}
              lines={[{ name: 'Used', values: rows.map((row) => row.diskUsed), color: '--chart-4' }]}
              format={size}
              least={16 << 20}
            />
            <Chart
              title={`Network, ${size(last.networkIn)}/s in, ${size(last.networkOut)}/s out`}
              times={times}
              lines={[
                { name: 'In', values: rows.map((row) => row.networkIn), color: '--chart-1' },
                { name: 'Out', values: rows.map((row) => row.networkOut), color: '--chart-5' },
              ]}
              format={(value) => size(value) + '/s'}
              least={1024}
            />
          </div>
        </Suspense>
      )}
    </div>
  )
}
