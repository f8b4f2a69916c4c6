import { useSignal } from '@preact/signals'
import { get, may } from '../api'
import { go } from '../router'
import { Ago, attempt, clock, Dialog, Failed, State, useLoad } from '../ui'
import { AttemptView } from './attempt'
import { remove, short, stateOf, test, turn, TYPES, type Attempt, type Stats, type Webhook } from './calls'
import { Deliveries } from './deliveries'
import { EditWebhook } from './form'

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
        <span key={timestamp} title={`${clock(timestamp)}: ${total - failed} arrived, ${failed} failed`}>
          <i class="bad" style={{ height: `${(100 * failed) / most}%` }} />
          <i style={{ height: `${(100 * (total - failed)) / most}%` }} />
        </span>
      ))}
    </div>
  )
}
