import { useSignal } from '@preact/signals'
import { all, call, may, message } from '../api'
import { go } from '../router'
import { Dialog, useLoad } from '../ui'
import type { Template } from './templates'

function pairs(text: string, what: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const line of text.split('\n').filter((one) => one.trim())) {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(`${what}: each line must be NAME=value, and not “${line.slice(0, 60)}”`)
    found[line.slice(0, at).trim()] = line.slice(at + 1)
  }
  return found
}

export function Create({ onClose, template = 'base' }: { onClose: () => void; template?: string }) {
  const error = useSignal('')
  const busy = useSignal(false)
  const templates = useLoad((end) => (may.value.seeTemplates ? all<Template>('/v2/templates', 300) : Promise.resolve([])).finally(() => end), [])
  const names = (templates.value ?? []).filter(({ buildStatus }) => buildStatus === 'ready').map((one) => one.aliases[0] ?? one.templateID)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (field: string) => String(form.get(field) ?? '').trim()
    busy.value = true
    error.value = ''
    try {
      const body: Record<string, unknown> = {
        templateID: text('template') || 'base',
        timeout: Math.round(Number(text('minutes')) * 60),
        secure: true,
        metadata: pairs(text('metadata'), 'Metadata'),
        envVars: pairs(text('variables'), 'Variables'),
        autoPause: form.get('ends') === 'pause',
        allow_internet_access: form.get('network') !== 'none',
      }
      if (form.get('network') === 'some') {
        body['network'] = { denyOut: ['0.0.0.0/0'], allowOut: text('hosts').split(/[\s,]+/).filter(Boolean) }
      }
      const made = await call<{ sandboxID: string }>('POST', '/v2/sandboxes', body)
      onClose()
      go('/sandboxes/' + made.sandboxID)
    } catch (e) {
      error.value = message(e)
    }
    busy.value = false
  }
  const network = useSignal('all')
  return (
    <Dialog title="New sandbox" onClose={onClose}>
      <form onSubmit={submit} class="fields">
        <label>
          Template
          <input name="template" list="templates" value={template} required spellcheck={false} />
          <datalist id="templates">
            {names.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </label>
        <div class="two">
          <label>
            Minutes
            <input name="minutes" type="number" min="0.1" step="any" value="30" required />
          </label>
          <label>
            Then
            <select name="ends">
              <option value="kill">kill it</option>
              <option value="pause">pause it</option>
            </select>
          </label>
        </div>
        <label>
          Metadata
          <textarea name="metadata" rows={2} placeholder="user=ann" spellcheck={false} />
        </label>
        <label>
          Variables
          <textarea name="variables" rows={2} placeholder="NAME=value" spellcheck={false} />
        </label>
        <label>
          Internet
          <select name="network" onChange={(e) => (network.value = e.currentTarget.value)}>
            <option value="all">as the team’s rules say</option>
            <option value="some">only these hosts</option>
            <option value="none">none</option>
          </select>
        </label>
        {network.value === 'some' && (
          <label>
            Hosts
            <input name="hosts" placeholder="pypi.org *.githubusercontent.com" required spellcheck={false} />
          </label>
        )}
        {error.value && (
          <p class="failed" role="alert">
            {error.value}
          </p>
        )}
        <footer>
          <button class="primary" disabled={busy.value}>
            {busy.value ? 'Creating…' : 'Create'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
