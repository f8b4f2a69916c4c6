import { get } from '../api'
import type { PartProps } from './part'
import { Empty, Failed, useLoad } from '../ui'

interface Event {
  id: string
  type: string
  timestamp: string
  eventData: Record<string, unknown> | null
}

export function Events({ id }: PartProps) {
  const loaded = useLoad((end) => get<Event[]>(`/events/sandboxes/${id}?limit=100`, end), [id], 5000)
  if (loaded.error) return <Failed text={loaded.error} />
  if (!loaded.value) return <p class="loading">Loading…</p>
  if (loaded.value.length === 0) return <Empty>No events.</Empty>
  return (
    <table>
      <thead>
        <tr>
          <th>Time</th>
          <th>Event</th>
          <th>Details</th>
        </tr>
      </thead>
      <tbody>
        {loaded.value.map((one) => (
          <tr key={one.id}>
            <td class="dim num">{new Date(one.timestamp).toLocaleString()}</td>
            <td>{one.type.replace('sandbox.lifecycle.', '')}</td>
            <td class="mono wrap dim">{one.eventData && Object.keys(one.eventData).length > 0 ? JSON.stringify(one.eventData) : ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
