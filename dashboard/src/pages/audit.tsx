import { useSignal } from '@preact/signals'
import { get } from '../api'
import { query, setQuery } from '../router'
import { Empty, Failed, useLoad } from '../ui'

type Entry = Record<string, unknown>

const text = (value: unknown): string => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value))
const SHOWN = new Set(['time', 'action', 'actor', 'credential', 'result', 'sequence', 'hash', 'previous', 'id', 'team', 'request', 'status'])

export function Audit() {
  const action = query.value.get('action') ?? ''
  const wanted = useSignal(action)
  const loaded = useLoad(
    (end) => get<Entry[]>('/audit?limit=100' + (action ? '&action=' + encodeURIComponent(action) : ''), end),
    [action],
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
      {loaded.error && <Failed text={loaded.error} />}
      {!loaded.value ? (
        !loaded.error && <p class="loading">Loading…</p>
      ) : loaded.value.length === 0 ? (
        <Empty>No entries.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Time</th>
                <th>Action</th>
                <th>Who</th>
                <th>Result</th>
                <th class="wide">Details</th>
              </tr>
            </thead>
            <tbody>
              {loaded.value.map((one, at) => (
                <tr key={text(one['sequence']) || at} title={text(one['request'])}>
                  <td class="dim num">{one['time'] ? new Date(text(one['time'])).toLocaleString() : ''}</td>
                  <td>{text(one['action'])}</td>
                  <td class="mono wrap dim" title={text(one['actor'])}>
                    {text(one['credential'] ?? one['actor'])}
                  </td>
                  <td>{text(one['result'])}</td>
                  <td class="wide mono wrap dim">
                    {Object.entries(one)
                      .filter(([key]) => !SHOWN.has(key))
                      .map(([key, value]) => `${key} ${text(value)}`)
                      .join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
