import { useSignal } from '@preact/signals'
import { call, get, message } from '../api'
import { Ago, attempt, confirm, copy, Dialog, Empty, Failed, useLoad } from '../ui'

interface Key {
  id: string
  name: string
  mask: { prefix: string; maskedValuePrefix: string; maskedValueSuffix: string }
  scope: string
  createdAt: string
  lastUsed: string | null
  expiresAt: string | null
  madeBy?: string
}

const DAY = 86_400_000

export function Keys() {
  const loaded = useLoad((end) => get<Key[]>('/api-keys', end), [], 10_000)
  const creating = useSignal(false)
  const revoke = async (one: Key) => {
    if (!(await confirm(`Revoke ${one.name}?`, 'Programs and browsers that use this key are refused at once.', 'Revoke'))) return
    await attempt(() => call('DELETE', '/api-keys/' + one.id), 'Revoked')
    loaded.reload()
  }
  return (
    <section>
      <header class="page">
        <h1>API keys</h1>
        <span class="counts">{loaded.value && <b>{loaded.value.length}</b>}</span>
        <button type="button" class="primary" id="create" title="c" onClick={() => (creating.value = true)}>
          New key
        </button>
      </header>
      {loaded.error && <Failed text={loaded.error} />}
      {!loaded.value ? (
        !loaded.error && <p class="loading">Loading…</p>
      ) : loaded.value.length === 0 ? (
        <Empty>No keys.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th>Key</th>
                <th>Scope</th>
                <th class="mid">Last used</th>
                <th class="wide">Created</th>
                <th class="wide">Expires</th>
                <th>
                  <span class="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {loaded.value.map((one) => (
                <tr key={one.id}>
                  <td class="wrap">
                    {one.name}
                    {one.madeBy && <span class="dim"> by {one.madeBy}</span>}
                  </td>
                  <td class="mono dim">
                    {one.mask.prefix}
                    {one.mask.maskedValuePrefix}…{one.mask.maskedValueSuffix}
                  </td>
                  <td class="mono wrap">{one.scope}</td>
                  <td class="mid dim">{one.lastUsed ? <Ago at={one.lastUsed} /> : 'never'}</td>
                  <td class="wide dim">
                    <Ago at={one.createdAt} />
                  </td>
                  <td class="wide dim">{one.expiresAt ? new Date(one.expiresAt).toLocaleString() : 'never'}</td>
                  <td class="acts">
                    <button type="button" class="danger" aria-label={'Revoke ' + one.name} onClick={() => revoke(one)}>
                      Revoke
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {creating.value && (
        <NewKey
          onClose={() => {
            creating.value = false
            loaded.reload()
          }}
        />
      )}
    </section>
  )
}

function NewKey({ onClose }: { onClose: () => void }) {
  const made = useSignal('')
  const error = useSignal('')
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const days = Number(form.get('days'))
    const body: Record<string, string> = { name: String(form.get('name')), scope: String(form.get('scope')) }
    if (days) body['expiresAt'] = new Date(Date.now() + days * DAY).toISOString()
    try {
      made.value = (await call<{ key: string }>('POST', '/api-keys', body)).key
    } catch (e) {
      error.value = message(e)
    }
  }
  return (
    <Dialog title="New API key" onClose={onClose}>
      {made.value ? (
        <>
          <p>This is the only time that the key is shown.</p>
          <pre class="output" id="made">
            {made.value}
          </pre>
          <footer>
            <button type="button" class="primary" onClick={() => copy(made.value)}>
              Copy
            </button>
          </footer>
        </>
      ) : (
        <form class="fields" onSubmit={submit}>
          <label>
            Name
            <input name="name" required autofocus autocomplete="off" />
          </label>
          <div class="two">
            <label>
              Scope
              <select name="scope">
                <option value="all">all</option>
                <option value="sandboxes">sandboxes</option>
                <option value="templates">templates</option>
                <option value="read">read</option>
              </select>
            </label>
            <label>
              Expires
              <select name="days">
                <option value="0">never</option>
                <option value="1">in a day</option>
                <option value="30">in 30 days</option>
                <option value="365">in a year</option>
              </select>
            </label>
          </div>
          {error.value && <Failed text={error.value} />}
          <footer>
            <button class="primary">Create</button>
          </footer>
        </form>
      )}
    </Dialog>
  )
}
