import { call, get, may } from '../api'
import type { Detail, PartProps } from '../pages/sandbox'
import { attempt, clock, Empty, Failed, size, useLoad } from '../ui'

interface Entry {
  lastSeen: string
  protocol: string
  name?: string
  address?: string
  port: number
  allowed: boolean
  match: string
  attempts: number
  sent: number
  received: number
}

export function Egress({ id, detail }: PartProps) {
  const loaded = useLoad((end) => get<{ entries: Entry[]; dropped: number }>(`/sandboxes/${id}/egress`, end), [id], 4000)
  const rules = useLoad((end) => get<Detail>(`/sandboxes/${id}`, end), [id])
  const network = (rules.value ?? detail).network
  // A rule is one more line in the list that the sandbox has; all other settings stay.
  const add = (list: 'allowOut' | 'denyOut', host: string) =>
    attempt(async () => {
      const now = (await get<{ network: Record<string, unknown> }>(`/sandboxes/${id}`)).network
      const kept = Object.fromEntries(
        ['allowOut', 'denyOut', 'rules', 'inspect', 'observe'].filter((key) => now[key] !== undefined).map((key) => [key, now[key]]),
      )
      const before = (now[list] as string[] | undefined) ?? []
      await call('PUT', `/sandboxes/${id}/network`, { ...kept, [list]: [...new Set([...before, host])] })
      rules.reload()
      loaded.reload()
    }, `${list === 'allowOut' ? 'Allowed' : 'Denied'} ${host}`)
  const changes = may.value.open && detail.state === 'running' && !('egressProxy' in (network ?? {}))
  return (
    <div>
      {network && (
        <p class="note">
          {network.denyOut?.length ? `Denied: ${network.denyOut.join(', ')}. ` : ''}
          {network.allowOut?.length ? `Allowed: ${network.allowOut.join(', ')}.` : ''}
          {!network.denyOut?.length && !network.allowOut?.length && 'No rules of its own: everything public is reached.'}
        </p>
      )}
      {loaded.error ? (
        <Failed text={loaded.error} />
      ) : !loaded.value ? (
        <p class="loading">Loading…</p>
      ) : loaded.value.entries.length === 0 ? (
        <Empty>Nothing noted. Connections are noted where rules name hosts, or where the network is observed.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Last</th>
                <th>Destination</th>
                <th>Protocol</th>
                <th>Verdict</th>
                <th class="right wide">Attempts</th>
                <th class="right wide">Sent</th>
                <th class="right wide">Received</th>
                <th>
                  <span class="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {loaded.value.entries.map((one, at) => (
                <tr key={at}>
                  <td class="dim num">{clock(one.lastSeen)}</td>
                  <td class="mono wrap">
                    {one.name ?? one.address}
                    <span class="dim">:{one.port}</span>
                  </td>
                  <td class="dim">{one.protocol}</td>
                  <td>
                    <span class={one.allowed ? 'state running' : 'state denied'}>{one.allowed ? 'allowed' : 'denied'}</span>
                  </td>
                  <td class="right num wide">{one.attempts}</td>
                  <td class="right num wide">{size(one.sent)}</td>
                  <td class="right num wide">{size(one.received)}</td>
                  <td class="acts">
                    {changes && one.name && !one.allowed && (
                      <button type="button" onClick={() => add('allowOut', one.name!)}>
                        Allow
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}
