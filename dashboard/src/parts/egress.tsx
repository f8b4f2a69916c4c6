import { call, get, may } from '../api'
import type { Detail, PartProps } from './part'
import { Search, Table, useFilter } from '../table'
import { attempt, clock, size, useLoad } from '../ui'

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

function rulesText({ allowInternetAccess, network: { allowOut = [], denyOut = [] } }: Detail): string {
  const denied = allowInternetAccess === false ? 'Denied: everything. ' : denyOut.length ? `Denied: ${denyOut.join(', ')}. ` : ''
  const allowed = allowOut.length ? `Allowed: ${allowOut.join(', ')}.` : ''
  return denied + allowed || 'No rules of its own: it reaches what its team and its template may, or else everything public.'
}

export function Egress({ id, detail }: PartProps) {
  const loaded = useLoad((end) => get<{ entries: Entry[]; dropped: number }>(`/sandboxes/${id}/egress`, end), [id], 4000)
  const rules = useLoad((end) => get<Detail>(`/sandboxes/${id}`, end), [id])
  const network = (rules.value ?? detail).network
  const changes = may.value.open && detail.state === 'running' && !('egressProxy' in (network ?? {}))
  const isRefused = ({ name, allowed }: Entry) => changes && name !== undefined && !allowed
  // A rule is one more line in the list that the sandbox has; all other settings stay.
  const allow = (entries: Entry[]) => {
    const hosts = entries.map(({ name }) => name!)
    return attempt(async () => {
      const now = (await get<{ network: Record<string, unknown> }>(`/sandboxes/${id}`)).network
      const kept = Object.fromEntries(
        ['allowOut', 'denyOut', 'rules', 'inspect', 'observe'].filter((key) => now[key] !== undefined).map((key) => [key, now[key]]),
      )
      const before = (now['allowOut'] as string[] | undefined) ?? []
      await call('PUT', `/sandboxes/${id}/network`, { ...kept, allowOut: [...new Set([...before, ...hosts])] })
      rules.reload()
      loaded.reload()
    }, `Allowed ${hosts.join(', ')}`)
  }
  const shown = useFilter(loaded.value?.entries, ({ name, address, protocol }) => [name, address, protocol])
  return (
    <div>
      {network && (
        <p class="note">
          {rulesText(rules.value ?? detail)}
        </p>
      )}
      <div class="filters" role="search">
        <Search placeholder="Search destinations" />
      </div>
      <Table
        label="Destinations"
        rows={shown}
        error={loaded.error}
        id={(one) => [one.name ?? one.address, one.port, one.protocol, one.match, one.allowed].join(' ')}
        columns={[
          { name: 'Last', class: 'dim num', cell: ({ lastSeen }) => clock(lastSeen) },
          {
            name: 'Destination',
            class: 'mono wrap',
            cell: ({ name, address, port }) => (
              <>
                {name ?? address}
                <span class="dim">:{port}</span>
              </>
            ),
          },
          { name: 'Protocol', class: 'dim mid', cell: ({ protocol }) => protocol },
          {
            name: 'Verdict',
            cell: ({ allowed }) => <span class={allowed ? 'state running' : 'state denied'}>{allowed ? 'allowed' : 'denied'}</span>,
          },
          { name: 'Attempts', class: 'right num wide', cell: ({ attempts }) => attempts },
          { name: 'Sent', class: 'right num wide', cell: ({ sent }) => size(sent) },
          { name: 'Received', class: 'right num wide', cell: ({ received }) => size(received) },
        ]}
        actions={(one) =>
          isRefused(one) && (
            <button type="button" onClick={() => allow([one])}>
              Allow
            </button>
          )
        }
        bulk={changes ? [{ name: 'Allow', applies: isRefused, run: allow }] : []}
        empty="Nothing noted. Connections are noted where rules name hosts, or where the network is observed."
      />
    </div>
  )
}
