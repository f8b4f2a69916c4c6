import { useSignal } from '@preact/signals'
import { call, may } from '../api'
import { Field, FormDialog, pairs, text } from '../form'
import { go } from '../router'
import { templates } from '../templates'
import { useLoad } from '../ui'

export function Create({ onClose, template = 'base' }: { onClose: () => void; template?: string }) {
  const listed = useLoad(() => (may.value.seeTemplates ? templates(300) : Promise.resolve([])), [])
  const names = (listed.value ?? []).filter(({ buildStatus }) => buildStatus === 'ready').map((one) => one.aliases[0] ?? one.templateID)
  const network = useSignal('all')
  const submit = async (form: FormData) => {
    const body: Record<string, unknown> = {
      templateID: text(form, 'templateID') || 'base',
      timeout: Math.round(Number(text(form, 'timeout')) * 60),
      secure: true,
      metadata: pairs(form, 'metadata'),
      envVars: pairs(form, 'envVars'),
      autoPause: form.get('ends') === 'pause',
      allow_internet_access: network.value !== 'none',
    }
    if (network.value === 'some') {
      body['network'] = { denyOut: ['0.0.0.0/0'], allowOut: text(form, 'allowOut').split(/[\s,]+/).filter(Boolean) }
    }
    const made = await call<{ sandboxID: string }>('POST', '/v2/sandboxes', body)
    go('/sandboxes/' + made.sandboxID)
  }
  return (
    <FormDialog title="New sandbox" action="Create" submit={submit} onClose={onClose} names={{ 'network.allowOut': 'allowOut' }}>
      <Field name="templateID" label="Template">
        <input list="templates" defaultValue={template} required spellcheck={false} />
      </Field>
      <datalist id="templates">
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <div class="two">
        <Field name="timeout" label="Minutes">
          <input type="number" min="0.1" step="any" defaultValue="30" required />
        </Field>
        <Field name="ends" label="Then">
          <select>
            <option value="kill">kill it</option>
            <option value="pause">pause it</option>
          </select>
        </Field>
      </div>
      <Field name="metadata" label="Metadata">
        <textarea rows={2} placeholder="user=ann" spellcheck={false} />
      </Field>
      <Field name="envVars" label="Variables">
        <textarea rows={2} placeholder="NAME=value" spellcheck={false} />
      </Field>
      <Field name="network" label="Internet">
        <select onChange={(e) => (network.value = e.currentTarget.value)}>
          <option value="all">as the team’s rules say</option>
          <option value="some">only these hosts</option>
          <option value="none">none</option>
        </select>
      </Field>
      {network.value === 'some' && (
        <Field name="allowOut" label="Hosts">
          <input placeholder="pypi.org *.githubusercontent.com" required spellcheck={false} />
        </Field>
      )}
    </FormDialog>
  )
}
