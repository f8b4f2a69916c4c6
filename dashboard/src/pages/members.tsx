import { useSignal } from '@preact/signals'
import { call, get, session } from '../api'
import { Field, FormDialog, text } from '../form'
import { Counts, each, Search, Table, useFilter } from '../table'
import { confirm, toast, useLoad } from '../ui'

interface Member {
  email: string
  scope: string
}

interface Changed {
  keptKeys: { name: string }[]
}

const SCOPES: [string, string][] = [
  ['all', 'everything, also change members'],
  ['sandboxes', 'all about sandboxes and snapshots'],
  ['templates', 'all about templates and builds'],
  ['read', 'look, and open nothing'],
]

const pathOf = (email: string) => '/members/' + encodeURIComponent(email)

/** Says which keys stay that the person made. */
function tell(done: string, { keptKeys }: Changed): void {
  const names = keptKeys.map(({ name }) => name).join(', ')
  toast(names ? `${done}. Keys they made go on: ${names}` : done, names !== '')
}

export function Members() {
  const loaded = useLoad((end) => get<Member[]>('/members', end), [], 10_000)
  const shown = useFilter(loaded.value, ({ email, scope }) => [email, scope])
  const adding = useSignal(false)
  const changing = useSignal<Member | null>(null)
  // The server lets nobody change their own rights.
  const self = session.value?.person ? session.value.name : undefined
  const isOther = ({ email }: Member) => email !== self
  const remove = async (members: Member[]) => {
    const what = members.length === 1 ? members[0]!.email : `${members.length} people`
    const sure = await confirm(
      `Remove ${what}?`,
      'Their programs and browsers are refused at once, and sandboxes that they could open get new tokens. API keys that they made for the team stay.',
      'Remove',
    )
    if (!sure) return
    await each(members, ['Member', 'members'], 'removed', async ({ email }) => {
      const gone = await call<Changed>('DELETE', pathOf(email) + '?sandboxes=true')
      if (gone.keptKeys.length) tell(email + ' removed', gone)
    })
    loaded.reload()
  }
  const close = () => {
    adding.value = false
    changing.value = null
    loaded.reload()
  }
  return (
    <section>
      <header class="page">
        <h1>Members</h1>
        <Counts of={loaded.value} shown={shown} />
        <button type="button" class="primary" id="create" title="c" onClick={() => (adding.value = true)}>
          Add a member
        </button>
      </header>
      <div class="filters" role="search">
        <Search placeholder="Search addresses and scopes" />
      </div>
      <Table
        label="Members"
        rows={shown}
        error={loaded.error}
        id={({ email }) => email}
        columns={[
          {
            name: 'Person',
            class: 'wrap',
            cell: ({ email }) => (
              <>
                {email}
                {email === self && <span class="tag plain">you</span>}
              </>
            ),
          },
          { name: 'Scope', class: 'mono', cell: ({ scope }) => scope },
          { name: 'May', class: 'mid dim', cell: ({ scope }) => SCOPES.find(([word]) => word === scope)?.[1] ?? '' },
        ]}
        actions={(one) =>
          isOther(one) && (
            <>
              <button type="button" aria-label={'Change ' + one.email} onClick={() => (changing.value = one)}>
                Change
              </button>
              <button type="button" class="danger" aria-label={'Remove ' + one.email} onClick={() => remove([one])}>
                Remove
              </button>
            </>
          )
        }
        bulk={[{ name: 'Remove', danger: true, applies: isOther, run: remove }]}
        empty={
          <>
            <p>No people yet.</p>
            <p>Members sign in with a browser, and <code>e2b auth login</code> gets keys for their programs.</p>
          </>
        }
      />
      {(adding.value || changing.value) && <MemberForm of={changing.value} onClose={close} />}
    </section>
  )
}

/** A new member, or other rights of one. */
function MemberForm({ of, onClose }: { of: Member | null; onClose: () => void }) {
  const submit = async (form: FormData) => {
    const email = of?.email ?? text(form, 'email')
    // Who may do less now may have read the tokens of sandboxes.
    const changed = await call<Changed>('PUT', pathOf(email) + '?sandboxes=true', { scope: text(form, 'scope') })
    tell(of ? 'Changed' : email + ' added', changed)
  }
  return (
    <FormDialog title={of ? 'What may ' + of.email + ' do?' : 'Add a member'} action={of ? 'Change' : 'Add'} submit={submit} onClose={onClose}>
      {!of && (
        <Field name="email" label="E-mail address" hint="They sign in with your identity provider, or with a link that the operator makes: sudo ./cay login ADDRESS">
          <input required autofocus type="email" autocomplete="off" spellcheck={false} />
        </Field>
      )}
      <Field name="scope" label="What they may do">
        <select autofocus={of !== null}>
          {SCOPES.map(([word, means]) => (
            <option key={word} value={word} selected={word === (of?.scope ?? 'sandboxes')}>
              {word}: {means}
            </option>
          ))}
        </select>
      </Field>
    </FormDialog>
  )
}
