// Adds a server of the catalog to a gateway that takes changes.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { message } from '../api'
import { Field, FormDialog } from '../form'
import { plain } from '../plain'
import { Dialog, Failed, toast } from '../ui'
import { list, OWN, text, tree, type Gateway } from './gateway'

interface Option {
  name: string
  type: string
  secret: boolean
}

/** A server of the catalog. */
interface Found {
  key: string
  title: string
  startable: boolean
  added: boolean
  required: string[]
  options: Option[]
}

function foundOf(value: unknown): Found {
  const one = tree(value)
  return {
    key: text(one['key']),
    title: text(one['title']),
    startable: one['startable'] === true,
    added: one['added'] === true,
    required: list(one['required']).map(text),
    options: list(one['options']).map(tree).map((option) => ({ name: text(option['name']), type: text(option['type']), secret: option['secret'] === true })),
  }
}

export function AddServer({ gateway, onClose }: { gateway: Gateway; onClose: () => void }) {
  const words = useSignal('')
  const chosen = useSignal<Found | null>(null)
  const found = useSignal<Found[]>([])
  const error = useSignal('')
  useEffect(() => {
    if (!words.value.trim()) {
      found.value = []
      return
    }
    let over = false
    const timer = setTimeout(async () => {
      try {
        const { servers } = await gateway.own(OWN.find, { query: words.value.trim(), limit: 20 })
        if (!over) found.value = list(servers).map(foundOf)
        error.value = ''
      } catch (e) {
        if (!over) error.value = message(e)
      }
    }, 250)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [words.value])
  if (chosen.value) return <ServerOptions gateway={gateway} of={chosen.value} onClose={onClose} />
  return (
    <Dialog title="Add a server" onClose={onClose}>
      <label>
        What for?
        <input
          type="search"
          autofocus
          placeholder="A product or a subject, like jira or search"
          value={words.value}
          onInput={(e) => (words.value = e.currentTarget.value)}
        />
      </label>
      {error.value && <Failed text={plain(error.value)} />}
      <ul class="found">
        {found.value.map((one) => (
          <li key={one.key} data-id={one.key}>
            <button type="button" class="link" disabled={!one.startable || one.added} onClick={() => (chosen.value = one)}>
              {one.title || one.key}
            </button>
            <span class="dim mono">{one.key}</span>
            <span class="dim">{one.added ? 'is there' : !one.startable ? 'cannot be started here' : ''}</span>
          </li>
        ))}
      </ul>
      {words.value.trim() && found.value.length === 0 && !error.value && <p class="dim">Nothing of the catalog fits.</p>}
    </Dialog>
  )
}

function ServerOptions({ gateway, of, onClose }: { gateway: Gateway; of: Found; onClose: () => void }) {
  const submit = async (form: FormData) => {
    const options: [string, unknown][] = []
    of.options.forEach(({ name, type }, at) => {
      const written = String(form.get('option' + at) ?? '')
      if (written !== '') options.push([name, type === 'list' ? written.split('\n').filter(Boolean) : written])
    })
    const { warnings } = await gateway.own(OWN.add, { name: of.key, options: Object.fromEntries(options) })
    const told = list(warnings).map(text).join(' ')
    toast(told ? plain(told) : of.key + ' added', told !== '')
  }
  return (
    <FormDialog title={'Add ' + of.key} action="Add" submit={submit} onClose={onClose}>
      {of.options.length === 0 && <p class="dim">It has no options.</p>}
      {of.options.map(({ name, type, secret }, at) => (
        <Field key={name} name={'option' + at} label={name} {...(type === 'list' ? { hint: 'One in each line.' } : {})}>
          {type === 'list' ? (
            <textarea rows={2} class={secret ? 'masked' : ''} required={of.required.includes(name)} spellcheck={false} />
          ) : type === 'boolean' ? (
            <select required={of.required.includes(name)}>
              <option value="" />
              <option value="true">true</option>
              <option value="false">false</option>
            </select>
          ) : (
            <input class={secret ? 'masked' : ''} required={of.required.includes(name)} autocomplete="off" spellcheck={false} />
          )}
        </Field>
      ))}
    </FormDialog>
  )
}
