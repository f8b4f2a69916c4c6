import { useSignal } from '@preact/signals'
import { get, may } from '../api'
import { href } from '../router'
import { Counts, Search, Table, useFilter } from '../table'
import { Ago, State, useLoad } from '../ui'
import { remove, short, stateOf, turn, TYPES, type Webhook } from './calls'
import { NewWebhook } from './form'

export function Webhooks() {
  const loaded = useLoad((end) => get<Webhook[]>('/events/webhooks', end), [], 10_000)
  const shown = useFilter(loaded.value, ({ name, url, events }) => [name, url, ...events])
  const creating = useSignal(false)
  const turnThem = (on: boolean) => (webhooks: Webhook[]) => turn(webhooks, on).then(loaded.reload)
  const removeThem = async (webhooks: Webhook[]) => {
    await remove(webhooks)
    loaded.reload()
  }
  return (
    <section>
      <header class="page">
        <h1>Webhooks</h1>
        <Counts of={loaded.value} shown={shown} />
        {may.value.all && (
          <button type="button" class="primary" id="create" title="c" onClick={() => (creating.value = true)}>
            New webhook
          </button>
        )}
      </header>
      <div class="filters" role="search">
        <Search placeholder="Search names, addresses and events" />
      </div>
      <Table
        label="Webhooks"
        rows={shown}
        error={loaded.error}
        id={({ id }) => id}
        columns={[
          { name: 'Name', class: 'wrap', cell: ({ id, name }) => <a href={href('/webhooks/' + id)}>{name}</a> },
          { name: 'State', cell: (one) => <State state={stateOf(one)} /> },
          { name: 'Address', class: 'mid mono wrap', cell: ({ url }) => url },
          { name: 'Events', class: 'wide dim', cell: ({ events }) => (events.length === TYPES.length ? 'all' : events.map(short).join(', ')) },
          { name: 'Created', class: 'wide dim', cell: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
        actions={(one) =>
          may.value.all && (
            <>
              <button type="button" aria-label={(one.enabled ? 'Switch off ' : 'Switch on ') + one.name} onClick={() => turnThem(!one.enabled)([one])}>
                {one.enabled ? 'Switch off' : 'Switch on'}
              </button>
              <button type="button" class="danger" aria-label={'Delete ' + one.name} onClick={() => removeThem([one])}>
                Delete
              </button>
            </>
          )
        }
        bulk={
          may.value.all
            ? [
                { name: 'Switch on', applies: ({ enabled }) => !enabled, run: turnThem(true) },
                { name: 'Switch off', applies: ({ enabled }) => enabled, run: turnThem(false) },
                { name: 'Delete', danger: true, run: removeThem },
              ]
            : []
        }
        empty={
          <>
            <p>No webhooks yet.</p>
            <p>A webhook is an address of yours to which Cay sends what happens to sandboxes.</p>
          </>
        }
      />
      {creating.value && (
        <NewWebhook
          onClose={() => {
            creating.value = false
            loaded.reload()
          }}
        />
      )}
    </section>
  )
}
