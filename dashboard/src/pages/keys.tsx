import { useSignal } from '@preact/signals'
import { call, get } from '../api'
import { Field, Form, FormDialog, ShownOnce, text } from '../form'
import { Counts, each, Search, Table, useFilter } from '../table'
import { Ago, confirm, Dialog, Failed, moment, useLoad } from '../ui'
import { LIMITS } from './limits'

interface Key {
  id: string
  name: string
  mask: { prefix: string; maskedValuePrefix: string; maskedValueSuffix: string }
  scope: string
  createdAt: string
  lastUsed: string | null
  expiresAt: string | null
  createdBy?: { id: string }
}

const DAY = 86_400_000

export function Keys() {
  const loaded = useLoad((end) => get<Key[]>('/api-keys', end), [], 10_000)
  const shown = useFilter(loaded.value, ({ name, scope, createdBy }) => [name, scope, createdBy?.id])
  const creating = useSignal(false)
  const limiting = useSignal<Key | null>(null)
  const revoke = async (keys: Key[]) => {
    const what = keys.length === 1 ? keys[0]!.name : `${keys.length} keys`
    if (!(await confirm(`Revoke ${what}?`, 'Programs and browsers that use it are refused at once.', 'Revoke'))) return
    await each(keys, ['Key', 'keys'], 'revoked', ({ id }) => call('DELETE', '/api-keys/' + id))
    loaded.reload()
  }
  return (
    <section>
      <header class="page">
        <h1>API keys</h1>
        <Counts of={loaded.value} shown={shown} />
        <button type="button" class="primary" id="create" title="c" onClick={() => (creating.value = true)}>
          New key
        </button>
      </header>
      <div class="filters" role="search">
        <Search placeholder="Search names and scopes" />
      </div>
      <Table
        label="Keys"
        rows={shown}
        error={loaded.error}
        id={({ id }) => id}
        columns={[
          {
            name: 'Name',
            class: 'wrap',
            cell: ({ name, createdBy }) => (
              <>
                {name}
                {createdBy && <span class="dim"> by {createdBy.id}</span>}
              </>
            ),
          },
          {
            name: 'Key',
            class: 'mono dim mid',
            cell: ({ mask }) => `${mask.prefix}${mask.maskedValuePrefix}…${mask.maskedValueSuffix}`,
          },
          { name: 'Scope', class: 'mono wrap', cell: ({ scope }) => scope },
          { name: 'Last used', class: 'mid dim', cell: ({ lastUsed }) => (lastUsed ? <Ago at={lastUsed} /> : 'never') },
          { name: 'Created', class: 'wide dim', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          { name: 'Expires', class: 'wide dim', cell: ({ expiresAt }) => (expiresAt ? moment(expiresAt) : 'never') },
        ]}
        actions={(one) => (
          <>
            <button type="button" aria-label={'Limits of ' + one.name} onClick={() => (limiting.value = one)}>
              Limits
            </button>
            <button type="button" class="danger" aria-label={'Revoke ' + one.name} onClick={() => revoke([one])}>
              Revoke
            </button>
          </>
        )}
        bulk={[{ name: 'Revoke', danger: true, run: revoke }]}
        empty="No keys."
      />
      {creating.value && (
        <NewKey
          onClose={() => {
            creating.value = false
            loaded.reload()
          }}
        />
      )}
      {limiting.value && <KeyLimits key={limiting.value.id} of={limiting.value} onClose={() => (limiting.value = null)} />}
    </section>
  )
}

function NewKey({ onClose }: { onClose: () => void }) {
  const made = useSignal('')
  const submit = async (form: FormData) => {
    const days = Number(form.get('days'))
    const body: Record<string, string> = { name: text(form, 'name'), scope: text(form, 'scope') }
    if (days) body['expiresAt'] = new Date(Date.now() + days * DAY).toISOString()
    made.value = (await call<{ key: string }>('POST', '/api-keys', body)).key
  }
  return (
    <Dialog title="New API key" onClose={onClose}>
      {made.value ? (
        <ShownOnce what="key" value={made.value} />
      ) : (
        <Form action="Create" submit={submit}>
          <Field name="name" label="Name">
            <input required autofocus autocomplete="off" />
          </Field>
          <div class="two">
            <Field name="scope" label="Scope">
              <select>
                <option value="all">all</option>
                <option value="sandboxes">sandboxes</option>
                <option value="templates">templates</option>
                <option value="read">read</option>
              </select>
            </Field>
            <Field name="days" label="Expires">
              <select>
                <option value="0">never</option>
                <option value="1">in a day</option>
                <option value="30">in 30 days</option>
                <option value="365">in a year</option>
              </select>
            </Field>
          </div>
        </Form>
      )}
    </Dialog>
  )
}

/** What one key may use of what its team may use. */
function KeyLimits({ of, onClose }: { of: Key; onClose: () => void }) {
  const path = `/api-keys/${of.id}/limits`
  const loaded = useLoad((end) => get<{ limits: Record<string, number | null> }>(path, end), [path])
  const title = 'Limits of ' + of.name
  if (!loaded.value) {
    return (
      <Dialog title={title} onClose={onClose}>
        {loaded.error ? <Failed text={loaded.error} /> : <p class="loading">Loading…</p>}
      </Dialog>
    )
  }
  const { limits } = loaded.value
  const submit = (form: FormData) =>
    call('PUT', path, Object.fromEntries(LIMITS.map(({ name }) => [name, text(form, name) === '' ? null : Number(text(form, name))])))
  return (
    <FormDialog title={title} action="Save" submit={submit} onClose={onClose}>
      <p class="dim">An empty field is no limit of the key. What the team may use holds too.</p>
      <div class="two">
        {LIMITS.map(({ name, label }) => (
          <Field key={name} name={name} label={label}>
            <input type="number" step="1" inputmode="numeric" defaultValue={limits[name] ?? ''} />
          </Field>
        ))}
      </div>
    </FormDialog>
  )
}
