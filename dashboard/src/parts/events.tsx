import { get } from '../api'
import type { PartProps } from './part'
import { plain } from '../plain'
import { Empty, Loaded, moment, useLoad } from '../ui'

const MOST = 30

interface Event {
  id: string
  type: string
  timestamp: string
  eventData: Record<string, unknown> | null
}

export function Events({ id }: PartProps) {
  const loaded = useLoad((end) => get<Event[]>(`/events/sandboxes/${id}?limit=100`, end), [id], 5000)
  return (
    <Loaded of={loaded}>
      {(events) =>
        events.length === 0 ? (
          <Empty>No events.</Empty>
        ) : (
          <div class="scroll">
            <table aria-label="Events">
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Event</th>
                  <th>Details</th>
                </tr>
              </thead>
              <tbody>
                {events.map((one) => (
                  <tr key={one.id}>
                    <td class="dim num">{moment(one.timestamp)}</td>
                    <td>{one.type.replace('sandbox.lifecycle.', '')}</td>
                    <td class="wrap dim">
                      <Details of={one.eventData ?? {}} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Loaded>
  )
}

/** The fields of an event; those in other fields follow the names of these. */
function Details({ of }: { of: Record<string, unknown> }) {
  const found: [string, string][] = []
  const add = (name: string, value: unknown) => {
    if (value === null || value === undefined || found.length >= MOST) return
    if (typeof value === 'object' && !Array.isArray(value)) {
      for (const [inner, more] of Object.entries(value)) add(name === 'sandbox_metadata' ? inner : `${name} ${inner}`.replace(/^execution /, ''), more)
    } else found.push([name.replaceAll('_', ' '), plain(Array.isArray(value) ? JSON.stringify(value) : String(value))])
  }
  for (const [name, value] of Object.entries(of)) add(name, value)
  return (
    <>
      {found.map(([name, value]) => (
        <span key={name} class="tag plain">
          <i>{name}</i>
          {value}
        </span>
      ))}
    </>
  )
}
