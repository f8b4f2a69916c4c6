import { useSignal } from '@preact/signals'
import { call, get, may } from '../api'
import { href, query, setQuery } from '../router'
import { each, Table } from '../table'
import { Ago, attempt, Dialog, State, toast, useLoad } from '../ui'
import { answer, AttemptView } from './attempt'
import { PREFIX, short, TYPES, type Delivery, type Webhook } from './calls'

const PAGE = 25
const STATES: Record<string, string> = { open: 'waiting', delivered: 'delivered', 'given-up': 'given up' }

export function Deliveries({ of }: { of: Webhook }) {
  const path = `/events/webhooks/${of.id}`
  const status = query.value.get('status') ?? ''
  const type = query.value.get('type') ?? ''
  const pages = useSignal(1)
  const shown = useSignal<Delivery | null>(null)
  const loaded = useLoad(
    async (end) => {
      const found: Delivery[] = []
      let cursor = ''
      for (let page = 0; page < pages.value; page++) {
        const filter = new URLSearchParams({ limit: String(PAGE) })
        if (status) filter.set('deliveryStatus', status)
        if (type) filter.set('eventType', PREFIX + type)
        if (cursor) filter.set('cursor', cursor)
        const { data, nextCursor } = await get<{ data: Delivery[]; nextCursor: string | null }>(`${path}/deliveries?${filter}`, end)
        found.push(...data)
        cursor = nextCursor ?? ''
        if (!cursor) break
      }
      return { found, hasMore: cursor !== '' }
    },
    [of.id, status, type, pages.value],
    5000,
  )
  const again = async (deliveries: Delivery[]) => {
    await each(deliveries, ['Event', 'events'], 'sent again', ({ eventId }) => call('POST', path + '/redeliveries', { eventId }))
    loaded.reload()
  }
  const againAll = () =>
    attempt(async () => {
      const { events, left } = await call<{ events: number; left: number }>('POST', path + '/redeliveries', { failed: true })
      toast(events === 0 ? 'Nothing was given up' : `${events} events are sent again${left ? `, ${left} have to wait` : ''}`)
      loaded.reload()
    })
  const changes = may.value.all && of.enabled
  return (
    <>
      <h2>Deliveries of the last 7 days</h2>
      <div class="filters">
        <select aria-label="Result" value={status} onChange={(e) => setQuery({ status: e.currentTarget.value })}>
          <option value="">any result</option>
          <option value="success">arrived</option>
          <option value="failed">not arrived</option>
        </select>
        <select aria-label="Event" value={type} onChange={(e) => setQuery({ type: e.currentTarget.value })}>
          <option value="">any event</option>
          {TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {changes && (
          <button type="button" id="redeliver" onClick={againAll}>
            Send all that were given up
          </button>
        )}
      </div>
      <Table
        label="Deliveries"
        rows={loaded.value?.found}
        error={loaded.error}
        id={({ eventId }) => eventId}
        columns={[
          {
            name: 'Last attempt',
            class: 'mid dim',
            cell: ({ attempts }) => attempts.length > 0 && <Ago at={attempts.at(-1)!.timestamp} />,
          },
          {
            name: 'Event',
            cell: (one) => (
              <button type="button" class="link" onClick={() => (shown.value = one)}>
                {short(one.eventType)}
              </button>
            ),
          },
          { name: 'State', cell: ({ state }) => <State state={STATES[state] ?? state} /> },
          { name: 'Sandbox', class: 'mid mono', cell: ({ sandboxId }) => <a href={href('/sandboxes/' + sandboxId)}>{sandboxId}</a> },
          { name: 'Answer', class: 'mid wrap', cell: ({ attempts }) => attempts.length > 0 && answer(attempts.at(-1)!) },
          { name: 'Attempts', class: 'wide right num', cell: ({ attempts }) => attempts.length },
        ]}
        actions={(one) =>
          changes && (
            <button type="button" aria-label={`Send ${short(one.eventType)} of ${one.sandboxId} again`} onClick={() => again([one])}>
              Send again
            </button>
          )
        }
        bulk={changes ? [{ name: 'Send again', run: again }] : []}
        empty={status || type ? 'Nothing matches.' : 'Nothing was sent yet.'}
      />
      {loaded.value?.hasMore && (
        <p>
          <button type="button" onClick={() => pages.value++}>
            Show older ones
          </button>
        </p>
      )}
      {shown.value && (
        <Dialog title={`${short(shown.value.eventType)} of ${shown.value.sandboxId}`} onClose={() => (shown.value = null)}>
          <DeliveryView of={shown.value} />
        </Dialog>
      )}
    </>
  )
}

function DeliveryView({ of }: { of: Delivery }) {
  const chosen = useSignal(of.attempts.length - 1)
  const one = of.attempts[chosen.value]
  return (
    <>
      {of.attempts.length > 1 && (
        <div class="strip" role="group" aria-label="Attempts">
          {of.attempts.map(({ id, timestamp }, at) => (
            <button key={id} type="button" aria-pressed={at === chosen.value} title={timestamp} onClick={() => (chosen.value = at)}>
              {at + 1}
            </button>
          ))}
        </div>
      )}
      {one && <AttemptView key={one.id} of={one} />}
    </>
  )
}
