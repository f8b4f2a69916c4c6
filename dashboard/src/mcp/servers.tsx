// The servers behind a gateway.
import { useSignal } from '@preact/signals'
import { ApiError, call } from '../api'
import { plain } from '../plain'
import { Table } from '../table'
import { attempt, confirm, State } from '../ui'
import { AddServer } from './add-server'
import { OWN, type Gateway, type Server } from './gateway'

interface ServersProps {
  id: string
  gateway: Gateway
  servers: Server[]
  adds: boolean
  removes: boolean
  onChange: () => void
}

export function Servers({ id, gateway, servers, adds, removes, onChange }: ServersProps) {
  const adding = useSignal(false)
  const remove = async ({ key }: Server) => {
    const sure = await confirm(`Remove ${plain(key)}?`, 'Its tools and its options go, for all clients of this gateway.', 'Remove')
    if (sure && (await attempt(() => gateway.own(OWN.remove, { name: key }), 'Server removed'))) onChange()
  }
  // The address comes from an authorization server, and is asked for anew each time.
  const authorize = ({ key }: Server) =>
    attempt(async () => {
      const { authorize } = await call<{ authorize?: string }>('POST', `/sandboxes/${id}/mcp/${encodeURIComponent(key)}/authorize`)
      if (!authorize || !/^https?:\/\//i.test(authorize)) throw new ApiError(0, 'the server needs no authorization now')
      window.open(authorize, '_blank', 'noopener,noreferrer')
    })
  return (
    <section aria-label="Servers">
      <header class="strip">
        <h2 class="grow">Servers</h2>
        {adds && (
          <button type="button" id="add-server" onClick={() => (adding.value = true)}>
            Add a server
          </button>
        )}
      </header>
      <Table
        label="Servers"
        rows={servers}
        id={({ key }) => key}
        columns={[
          {
            name: 'Server',
            class: 'wrap',
            cell: (one) => (
              <>
                {plain(one.key)}
                <About server={one} />
              </>
            ),
          },
          { name: 'State', cell: ({ state }) => <State state={state} /> },
          { name: 'Tools', class: 'right num', cell: ({ tools }) => tools },
          { name: 'Started as', class: 'mid dim wrap', cell: ({ way }) => plain(way) },
        ]}
        actions={(one) => (
          <>
            {one.authorize && (
              <button type="button" aria-label={'Authorize ' + plain(one.key)} onClick={() => authorize(one)}>
                Authorize
              </button>
            )}
            {removes && (
              <button type="button" class="danger" aria-label={'Remove ' + plain(one.key)} onClick={() => remove(one)}>
                Remove
              </button>
            )}
          </>
        )}
        empty={adds ? 'No servers yet.' : 'This gateway has no servers.'}
      />
      {!adds && !removes && (
        <p class="note">
          Servers of this gateway are changed where it was started. One that is started with <code>--meta-tools on</code> takes changes here.
        </p>
      )}
      {adding.value && (
        <AddServer
          gateway={gateway}
          onClose={() => {
            adding.value = false
            onChange()
          }}
        />
      )}
    </section>
  )
}

/** What keeps a server from working, and what it is doing. Programs of others have written most of it. */
function About({ server }: { server: Server }) {
  const { reason, progress, warning, otherWays } = server
  return (
    <>
      {reason && <p class="why bad">{plain(reason)}</p>}
      {progress && <p class="why">{plain(progress)}</p>}
      {warning && <p class="why soon">{plain(warning)}</p>}
      {otherWays
        .filter((other) => other.reason)
        .map((other) => (
          <p class="why" key={other.way}>
            {plain(other.way)}: {plain(other.reason)}
          </p>
        ))}
    </>
  )
}
