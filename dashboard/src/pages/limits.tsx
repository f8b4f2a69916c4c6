import { get } from '../api'
import { Table } from '../table'
import { Meter, size, useLoad } from '../ui'

interface Loaded {
  source: string
  limits: Record<string, number | null>
  use: Record<string, number | null>
}

interface Limit {
  name: string
  label: string
  /** What happens at the limit. */
  then: string
  show?: (value: number) => string
}

const memory = (megabytes: number): string => size(megabytes * 2 ** 20)

/** All limits, in the order of the API. */
export const LIMITS: Limit[] = [
  { name: 'sandboxes', label: 'Sandboxes that run', then: 'creates, forks and resumes are refused' },
  { name: 'vcpus', label: 'CPUs', then: 'creates, forks and resumes are refused' },
  { name: 'memoryMB', label: 'Memory, MB', then: 'creates, forks and resumes are refused', show: memory },
  { name: 'diskMB', label: 'Disk, MB', then: 'sandboxes cannot write more; creates, forks, snapshots and volumes are refused', show: memory },
  { name: 'builds', label: 'Builds at once', then: 'the next build is refused' },
  { name: 'createsPerSecond', label: 'Creates per second', then: 'creates and forks are refused' },
  { name: 'apiCallsPer30s', label: 'API requests in 30 s', then: 'requests are refused' },
  { name: 'operationsPerMinute', label: 'Requests to sandboxes per minute', then: 'requests are refused' },
]

export function LimitsPage() {
  const loaded = useLoad((end) => get<Loaded>('/limits', end), [], 5000)
  const of = (one: Limit) => loaded.value?.limits[one.name] ?? null
  const use = (one: Limit) => loaded.value?.use[one.name] ?? null
  const shown = (one: Limit, value: number) => (one.show ? one.show(value) : value.toLocaleString())
  return (
    <section>
      <header class="page">
        <h1>Limits</h1>
        <span class="counts">
          {loaded.value && (loaded.value.source === 'team' ? 'set for this team' : 'as for every team of this Cay')}
        </span>
      </header>
      <p class="note">
        Whoever runs this Cay sets them: <code>sudo ./cay team limit</code>. Limits of single keys are on the page API keys.
      </p>
      <Table
        label="Limits"
        rows={loaded.value && LIMITS}
        error={loaded.error}
        id={({ name }) => name}
        columns={[
          { name: 'Limit', cell: ({ label }) => label.replace(', MB', '') },
          { name: 'In use', class: 'right num', cell: (one) => (use(one) === null ? '' : shown(one, use(one)!)) },
          { name: 'At most', class: 'right num', cell: (one) => (of(one) === null ? <span class="dim">no limit</span> : shown(one, of(one)!)) },
          {
            name: 'Share',
            class: 'mid share',
            cell: (one) =>
              of(one) !== null &&
              use(one) !== null && <Meter part={use(one)! / of(one)!} label={Math.round((100 * use(one)!) / of(one)!) + ' %'} />,
          },
          { name: 'At the limit', class: 'wide dim', cell: ({ then }) => then },
        ]}
        empty=""
      />
    </section>
  )
}
