import { useSignal } from '@preact/signals'
import { call, get, may } from '../api'
import { Choices, Field, Form, FormDialog, ShownOnce, text } from '../form'
import { plain } from '../parts/processes'
import { go, href, query, setQuery } from '../router'
import { Counts, each, Search, Table, useFilter } from '../table'
import { Ago, attempt, confirm, Dialog, Failed, State, toast, useLoad } from '../ui'

interface Webhook {
  id: string
  name: string
  url: string
  events: string[]
  enabled: boolean
  createdAt: string
  failingSince: string | null
  disabledAt: string | null
  disabledReason: string | null
}

interface Attempt {
  id: string
  status: string
  durationMs: number
  requestBody: string
  requestHeaders: string
  requestUrl: string
  responseBody?: string | null
  responseHeaders?: string | null
  responseHttpStatusCode?: number | null
  errorClass: string | null
  errorMessage?: string | null
  timestamp: string
}

interface Delivery {
  eventId: string
  eventType: string
  sandboxId: string
  state: string
  attempts: Attempt[]
}

interface Stats {
  buckets: { timestamp: string; total: number; failed: number }[]
  total: number
  failed: number
  durationMs: { average: number }
}

const TYPES = ['created', 'updated', 'paused', 'resumed', 'killed', 'checkpointed']
const PREFIX = 'sandbox.lifecycle.'
const WORDS: [string, string] = ['Webhook', 'webhooks']
const PAGE = 25

const short = (type: string): string => type.replace(PREFIX, '')
const stateOf = ({ enabled, failingSince }: Webhook): string => (!enabled ? 'off' : failingSince ? 'failing' : 'on')

const test = (one: Webhook): Promise<Attempt> => call<Attempt>('POST', `/events/webhooks/${one.id}/test`, {})
const change = (one: Webhook, changes: object): Promise<unknown> => call('PATCH', '/events/webhooks/' + one.id, changes)
const turn = (webhooks: Webhook[], on: boolean): Promise<boolean> =>
  each(webhooks, WORDS, on ? 'switched on' : 'switched off', (one) => change(one, { enabled: on }))

/** Gives whether they are gone. */
async function remove(webhooks: Webhook[]): Promise<boolean> {
  const what = webhooks.length === 1 ? `webhook ${webhooks[0]!.name}` : `${webhooks.length} webhooks`
  const lost = 'Nothing more is sent, and the list of what was sent is deleted.'
  if (!(await confirm(`Delete ${what}?`, lost, 'Delete'))) return false
  return each(webhooks, WORDS, 'deleted', ({ id }) => call('DELETE', '/events/webhooks/' + id))
}

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

const ofForm = (form: FormData) => ({ name: text(form, 'name'), url: text(form, 'url'), events: form.getAll('events') })

function Fields({ of }: { of?: Webhook }) {
  return (
    <>
      <Field name="name" label="Name">
        <input required autofocus autocomplete="off" defaultValue={of?.name} />
      </Field>
      <Field name="url" label="Address" hint="Public, unless whoever runs this Cay allows others.">
        <input type="url" required autocomplete="off" spellcheck={false} placeholder="https://hooks.example.org/cay" defaultValue={of?.url} />
      </Field>
      <Choices
        name="events"
        label="Events"
        options={TYPES.map((type) => ({ value: PREFIX + type, label: type }))}
        chosen={of?.events ?? TYPES.map((type) => PREFIX + type)}
      />
      <Field
        name="signatureSecret"
        label="Secret of the signatures"
        hint={of ? 'Empty keeps the one that there is.' : 'Empty for a random one, which is shown once.'}
      >
        <input type="password" autocomplete="new-password" spellcheck={false} />
      </Field>
    </>
  )
}

function random(): string {
  return [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function NewWebhook({ onClose }: { onClose: () => void }) {
  const made = useSignal<{ id: string; secret: string } | null>(null)
  const submit = async (form: FormData) => {
    const given = text(form, 'signatureSecret')
    const signatureSecret = given || random()
    const { id } = await call<Webhook>('POST', '/events/webhooks', { ...ofForm(form), signatureSecret })
    if (!given) made.value = { id, secret: signatureSecret }
    else go('/webhooks/' + id)
  }
  if (made.value) {
    return (
      <Dialog title="The webhook is there" onClose={() => go('/webhooks/' + made.value!.id)}>
        <ShownOnce what="secret of its signatures" value={made.value.secret} />
      </Dialog>
    )
  }
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <Form action="Create" submit={submit}>
        <Fields />
      </Form>
    </Dialog>
  )
}

function EditWebhook({ of, onClose }: { of: Webhook; onClose: () => void }) {
  const submit = (form: FormData) => {
    const secret = text(form, 'signatureSecret')
    return change(of, { ...ofForm(form), ...(secret && { signatureSecret: secret }) })
  }
  return (
    <FormDialog title={'Change ' + of.name} action="Save" submit={submit} onClose={onClose}>
      <Fields of={of} />
    </FormDialog>
  )
}

export function WebhookPage({ id }: { id: string }) {
  const path = '/events/webhooks/' + id
  const loaded = useLoad((end) => get<Webhook>(path, end), [id], 10_000)
  const stats = useLoad((end) => get<Stats>(path + '/stats', end), [id], 10_000)
  const editing = useSignal(false)
  const tested = useSignal<Attempt | null>(null)
  const testing = useSignal(false)
  const one = loaded.value
  if (!one) {
    return (
      <section>
        <header class="page">
          <h1>Webhook</h1>
        </header>
        {loaded.error ? <Failed text={loaded.error} /> : <p class="loading">Loading…</p>}
      </section>
    )
  }
  const runTest = async () => {
    testing.value = true
    await attempt(async () => (tested.value = await test(one)))
    testing.value = false
  }
  return (
    <section>
      <header class="page">
        <h1 class="wrap">{one.name}</h1>
        <State state={stateOf(one)} />
        {may.value.all && (
          <span class="acts">
            <button type="button" disabled={testing.value} onClick={runTest}>
              {testing.value ? 'Sending…' : 'Send a test'}
            </button>
            <button type="button" onClick={() => (editing.value = true)}>
              Change
            </button>
            <button type="button" class={one.enabled ? '' : 'primary'} onClick={() => turn([one], !one.enabled).then(loaded.reload)}>
              {one.enabled ? 'Switch off' : 'Switch on'}
            </button>
            <button type="button" class="danger" onClick={async () => (await remove([one])) && go('/webhooks')}>
              Delete
            </button>
          </span>
        )}
      </header>
      {!one.enabled && one.disabledReason && <Failed text={`Cay switched it off: ${one.disabledReason}`} />}
      <dl class="facts">
        <div>
          <dt>Address</dt>
          <dd class="mono wrap">{one.url}</dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd>{one.events.length === TYPES.length ? 'all' : one.events.map(short).join(', ')}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Ago at={one.createdAt} />
          </dd>
        </div>
        {one.failingSince && (
          <div>
            <dt>Failing</dt>
            <dd>
              since <Ago at={one.failingSince} />
            </dd>
          </div>
        )}
        {stats.value && stats.value.total > 0 && (
          <div>
            <dt>Attempts in 24 hours</dt>
            <dd>
              {stats.value.total}, of which {stats.value.failed} failed; {Math.round(stats.value.durationMs.average)} ms on average
            </dd>
          </div>
        )}
      </dl>
      {stats.value && stats.value.total > 0 && <Hours stats={stats.value} />}
      <Deliveries of={one} />
      {editing.value && (
        <EditWebhook
          of={one}
          onClose={() => {
            editing.value = false
            loaded.reload()
          }}
        />
      )}
      {tested.value && (
        <Dialog title="Test" onClose={() => (tested.value = null)}>
          <AttemptView of={tested.value} />
        </Dialog>
      )}
    </section>
  )
}

/** A bar for each hour: what arrived, and above it what failed. */
function Hours({ stats }: { stats: Stats }) {
  const most = Math.max(...stats.buckets.map(({ total }) => total))
  return (
    <div class="hours" role="img" aria-label={`${stats.total} attempts in 24 hours, ${stats.failed} failed`}>
      {stats.buckets.map(({ timestamp, total, failed }) => (
        <span key={timestamp} title={`${new Date(timestamp).toLocaleTimeString()}: ${total - failed} arrived, ${failed} failed`}>
          <i class="bad" style={{ height: `${(100 * failed) / most}%` }} />
          <i style={{ height: `${(100 * (total - failed)) / most}%` }} />
        </span>
      ))}
    </div>
  )
}

const STATES: Record<string, string> = { open: 'waiting', delivered: 'delivered', 'given-up': 'given up' }

function Deliveries({ of }: { of: Webhook }) {
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

/** What the receiver said, in a few words. */
const answer = (one: Attempt): string =>
  one.errorClass === 'canceled'
    ? `not sent: ${one.errorMessage ?? ''}`
    : one.responseHttpStatusCode
      ? `status ${one.responseHttpStatusCode}`
      : plain(one.errorMessage ?? one.errorClass ?? '')

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

/** JSON with a line for each field; other texts as they are. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return plain(body)
  }
}

const Text = ({ label, of }: { label: string; of: string }) => (
  <pre class="output" tabIndex={0} role="region" aria-label={label}>
    {pretty(of)}
  </pre>
)

function AttemptView({ of }: { of: Attempt }) {
  return (
    <div class="attempt">
      <dl class="facts">
        <div>
          <dt>Result</dt>
          <dd>
            <State state={of.status === 'success' ? 'delivered' : 'failed'} />
          </dd>
        </div>
        <div>
          <dt>Answer</dt>
          <dd class="wrap">{answer(of)}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>
            {new Date(of.timestamp).toLocaleString()}, {of.durationMs} ms
          </dd>
        </div>
      </dl>
      {of.responseHttpStatusCode && of.errorMessage && <Failed text={plain(of.errorMessage)} />}
      <h3>Sent to {of.requestUrl}</h3>
      <Text label="What was sent" of={of.requestBody} />
      <details>
        <summary>Headers</summary>
        <Text label="Headers" of={of.requestHeaders} />
      </details>
      {of.responseBody && (
        <>
          <h3>Answered</h3>
          <Text label="The answer" of={of.responseBody} />
        </>
      )}
      {of.responseHeaders && (
        <details>
          <summary>Headers of the answer</summary>
          <Text label="Headers of the answer" of={of.responseHeaders} />
        </details>
      )}
    </div>
  )
}
