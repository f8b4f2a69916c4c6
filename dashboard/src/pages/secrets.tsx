import { useSignal } from '@preact/signals'
import { all, call, get } from '../api'
import { Field, FormDialog, text } from '../form'
import { Counts, each, Search, Table, useFilter } from '../table'
import { Ago, attempt, confirm, copy, Icon, useLoad } from '../ui'

interface Secret {
  secretID: string
  name: string
  currentVersion: number
  metadata: Record<string, string>
  createdAt: string
  updatedAt: string
}

/** The entry of the metadata that names the only hosts to which a value is sent. */
const HOSTS = 'cay.hosts'
const NAMES = { ['metadata.' + HOSTS]: 'hosts', metadata: 'hosts' }

const hostsOf = ({ metadata }: Secret): string[] => (metadata[HOSTS] ?? '').split(',').map((host) => host.trim()).filter(Boolean)
const placeholder = (name: string): string => '${e2b.secrets.' + name + '}'

export function Secrets() {
  const loaded = useLoad(() => all<Secret>('/secrets'), [], 10_000)
  const shown = useFilter(loaded.value, (one) => [one.name, ...hostsOf(one)])
  const creating = useSignal(false)
  const replacing = useSignal<Secret | null>(null)
  const remove = async (secrets: Secret[]) => {
    const what = secrets.length === 1 ? secrets[0]!.name : `${secrets.length} secrets`
    if (!(await confirm(`Delete ${what}?`, 'Requests of sandboxes that need it are refused from now on.', 'Delete'))) return
    await each(secrets, ['Secret', 'secrets'], 'deleted', ({ secretID }) => call('DELETE', '/secrets/' + secretID))
    loaded.reload()
  }
  // As it is now: others may have changed its hosts since the list was loaded.
  const replace = ({ secretID }: Secret) => attempt(async () => (replacing.value = await get<Secret>('/secrets/' + secretID)))
  return (
    <section>
      <header class="page">
        <h1>Secrets</h1>
        <Counts of={loaded.value} shown={shown} />
        <button type="button" class="primary" id="create" title="c" onClick={() => (creating.value = true)}>
          New secret
        </button>
      </header>
      <div class="filters" role="search">
        <Search placeholder="Search names and hosts" />
      </div>
      <Table
        label="Secrets"
        rows={shown}
        error={loaded.error}
        id={({ secretID }) => secretID}
        columns={[
          { name: 'Name', class: 'wrap', cell: ({ name }) => name },
          {
            name: 'In a rule',
            class: 'mid mono dim wrap',
            cell: ({ name }) => (
              <span class="row">
                {placeholder(name)}
                <button type="button" class="icon" aria-label={'Copy the placeholder of ' + name} title="Copy" onClick={() => copy(placeholder(name))}>
                  <Icon of="copy" />
                </button>
              </span>
            ),
          },
          {
            name: 'Goes to',
            class: 'wrap',
            cell: (one) => hostsOf(one).join(', ') || <span class="soon">any host that a rule names</span>,
          },
          { name: 'Values', class: 'wide right num', cell: ({ currentVersion }) => currentVersion },
          { name: 'Changed', class: 'wide dim', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
        ]}
        actions={(one) => (
          <>
            <button type="button" aria-label={'Replace ' + one.name} onClick={() => replace(one)}>
              Replace
            </button>
            <button type="button" class="danger" aria-label={'Delete ' + one.name} onClick={() => remove([one])}>
              Delete
            </button>
          </>
        )}
        bulk={[{ name: 'Delete', danger: true, run: remove }]}
        empty={
          <>
            <p>No secrets yet.</p>
            <p>Sandboxes send a secret to a service and never see its value.</p>
          </>
        }
      />
      {(creating.value || replacing.value) && (
        <SecretForm
          of={replacing.value}
          onClose={() => {
            creating.value = false
            replacing.value = null
            loaded.reload()
          }}
        />
      )}
    </section>
  )
}

/** A new secret, or another value of one. */
function SecretForm({ of, onClose }: { of: Secret | null; onClose: () => void }) {
  const submit = (form: FormData) => {
    const { [HOSTS]: _, ...others } = of?.metadata ?? {}
    const hosts = text(form, 'hosts').split(/[\s,]+/).filter(Boolean).join(',')
    const metadata = hosts ? { ...others, [HOSTS]: hosts } : others
    const value = String(form.get('value') ?? '')
    if (of) return call('POST', '/secrets/' + of.secretID, { value, metadata })
    return call('POST', '/secrets', { name: text(form, 'name'), value, metadata })
  }
  return (
    <FormDialog
      title={of ? `Replace the value of ${of.name}` : 'New secret'}
      action={of ? 'Replace' : 'Create'}
      submit={submit}
      onClose={onClose}
      names={NAMES}
    >
      {!of && (
        <Field name="name" label="Name" hint="Letters, digits, - and _.">
          <input required autofocus autocomplete="off" spellcheck={false} />
        </Field>
      )}
      <Field name="value" label="Value" hint="Nobody can read it back, so it is not shown again.">
        <textarea class="masked mono" rows={3} required autofocus={of !== null} autocomplete="off" spellcheck={false} />
      </Field>
      <Field name="hosts" label="Hosts it may go to" hint="Like api.example.com or *.example.org. Empty for any host that a rule names.">
        <input class="mono" autocomplete="off" spellcheck={false} defaultValue={of ? hostsOf(of).join(', ') : ''} />
      </Field>
    </FormDialog>
  )
}
