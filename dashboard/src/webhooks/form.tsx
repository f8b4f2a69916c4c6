import { useSignal } from '@preact/signals'
import { call } from '../api'
import { Choices, Field, Form, FormDialog, ShownOnce, text } from '../form'
import { go } from '../router'
import { Dialog } from '../ui'
import { change, PREFIX, TYPES, type Webhook } from './calls'

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

export function NewWebhook({ onClose }: { onClose: () => void }) {
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

export function EditWebhook({ of, onClose }: { of: Webhook; onClose: () => void }) {
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
