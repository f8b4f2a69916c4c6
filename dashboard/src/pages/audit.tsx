import { useSignal } from '@preact/signals'
import { get } from '../api'
import { query, setQuery } from '../router'
import { Table } from '../table'
import { moment, useLoad } from '../ui'

type Entry = Record<string, unknown>

const text = (value: unknown): string => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value))
const PAGE = 100
const MOST = 1000
const SHOWN = new Set(['time', 'action', 'actor', 'credential', 'result', 'sequence', 'hash', 'previous', 'id', 'team', 'request', 'status'])

export function Audit() {
  const action = query.value.get('action') ?? ''
  const wanted = useSignal(action)
  const pages = useSignal(1)
  const loaded = useLoad(
    (end) => get<Entry[]>(`/audit?limit=${PAGE * pages.value}` + (action ? '&action=' + encodeURIComponent(action) : ''), end),
    [action, pages.value],
    10_000,
  )
  return (
    <section>
      <header class="page">
        <h1>Audit log</h1>
      </header>
      <form
        class="filters"
        role="search"
        onSubmit={(e) => {
          e.preventDefault()
          setQuery({ action: wanted.value.trim() })
        }}
      >
        <input
          type="search"
          placeholder="Action, like sandbox.create"
          aria-label="Action"
          title="/"
          value={wanted.value}
          onInput={(e) => (wanted.value = e.currentTarget.value)}
        />
        <button>Show</button>
      </form>
      <Table
        label="Entries"
        rows={loaded.value}
        error={loaded.error}
        id={(one) => text(one['id']) || text(one['sequence'])}
        columns={[
          { name: 'Time', class: 'dim num', cell: (one) => (one['time'] ? moment(text(one['time'])) : '') },
          { name: 'Action', cell: (one) => text(one['action']) },
          {
            name: 'Who',
            class: 'mono dim',
            cell: (one) => <span class="num" title={text(one['actor'])}>{text(one['credential'] ?? one['actor'])}</span>,
          },
          { name: 'Result', cell: (one) => text(one['result']) },
          {
            name: 'Details',
            class: 'wide mono wrap dim',
            cell: (one) =>
              Object.entries(one)
                .filter(([key]) => !SHOWN.has(key))
                .map(([key, value]) => `${key} ${text(value)}`)
                .join(', '),
          },
        ]}
        empty="No entries."
      />
      {(loaded.value?.length ?? 0) >= PAGE * pages.value && PAGE * pages.value < MOST && (
        <p>
          <button type="button" onClick={() => pages.value++}>
            Show older ones
          </button>
        </p>
      )}
    </section>
  )
}
