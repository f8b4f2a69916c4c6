// Calls one tool with the arguments of a form, and shows its result.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { message } from '../api'
import { Field, Form } from '../form'
import { plain } from '../plain'
import { Dialog } from '../ui'
import { argumentsOf, filled, fromJson, shown as written, type Argument } from './arguments'
import { json, text, tree, type Gateway, type Result, type Tool } from './gateway'

const MOST_TEXT = 200_000

export function Try({ gateway, tool, onClose }: { gateway: Gateway; tool: Tool; onClose: () => void }) {
  const fields = argumentsOf(tool.schema)
  const asJson = useSignal(fields === undefined)
  const schema = useSignal(false)
  const result = useSignal<Result | null>(null)
  const failure = useSignal('')
  const progress = useSignal('')
  const running = useSignal(false)
  const end = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => end.current?.abort(), [])
  const submit = async (form: FormData) => {
    const given = asJson.value || !fields ? fromJson(form) : filled(form, fields)
    end.current = new AbortController()
    running.value = true
    progress.value = failure.value = ''
    result.value = null
    try {
      result.value = await gateway.call(tool.name, given, end.current.signal, (said) => (progress.value = said))
    } catch (e) {
      failure.value = message(e)
    }
    running.value = false
  }
  return (
    <Dialog title={plain(tool.name)} onClose={onClose}>
      <div class="try">
        {tool.title && <p>{plain(tool.title)}</p>}
        {tool.description && <p class="described">{plain(tool.description).slice(0, MOST_TEXT)}</p>}
        <div class="strip">
          <button type="button" class="quiet" aria-expanded={schema.value} onClick={() => (schema.value = !schema.value)}>
            Schema of its arguments
          </button>
          <span class="grow" />
          {fields && fields.length > 0 && (
            <button type="button" class="quiet" aria-pressed={asJson.value} onClick={() => (asJson.value = !asJson.value)}>
              As JSON
            </button>
          )}
        </div>
        {schema.value && (
          <pre class="output" tabIndex={0}>
            {pretty(tool.schema)}
          </pre>
        )}
        <Form action="Call" submit={submit}>
          {asJson.value || !fields ? (
            <Field name="json" label="Arguments" hint="An object in JSON.">
              <textarea class="mono" rows={6} spellcheck={false} defaultValue="{}" />
            </Field>
          ) : (
            fields.map((one) => <ArgumentField key={one.field} of={one} />)
          )}
        </Form>
        {running.value && (
          <div class="strip">
            <span class="grow dim" role="status">
              {plain(progress.value) || 'Calling…'}
            </span>
            <button type="button" onClick={() => end.current?.abort()}>
              Stop
            </button>
          </div>
        )}
        {failure.value && (
          <div class="shown" id="result">
            <pre class="error" role="alert">
              {plain(failure.value).slice(0, MOST_TEXT)}
            </pre>
          </div>
        )}
        {result.value && <Shown result={result.value} />}
      </div>
    </Dialog>
  )
}

function ArgumentField({ of: { field, name, kind, required, hint, initial, values } }: { of: Argument }) {
  const hints = [plain(hint), kind === 'json' ? 'Written as JSON.' : ''].filter(Boolean).join(' ')
  return (
    <Field name={field} label={plain(name) || '(no name)'} {...(hints ? { hint: hints } : {})}>
      {kind === 'choice' ? (
        <select required={required}>
          <option value="" />
          {values.map((value, at) => (
            <option key={at} value={at} selected={initial !== '' && written(value) === initial}>
              {plain(written(value))}
            </option>
          ))}
        </select>
      ) : kind === 'number' ? (
        <input type="number" step="any" required={required} defaultValue={initial} autocomplete="off" />
      ) : (
        <textarea
          class={kind === 'json' ? 'mono line-field' : 'line-field'}
          rows={1}
          required={required}
          defaultValue={initial}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </Field>
  )
}

const pretty = (value: unknown): string => plain(json(value, 2)).slice(0, MOST_TEXT)

/** Texts are shown as text, pictures as pictures, and all else as the JSON that it is. */
function Shown({ result: { content, structured, failed } }: { result: Result }) {
  return (
    <div class="shown" id="result">
      {content.map((value, at) => {
        const part = tree(value)
        const picture = pictureOf(part)
        if (picture) return <img key={at} alt="What the tool has sent" src={picture} />
        return (
          <pre key={at} class={failed ? 'error' : ''} tabIndex={0}>
            {part['type'] === 'text' ? plain(text(part['text'])).slice(0, MOST_TEXT) : pretty(value)}
          </pre>
        )
      })}
      {structured !== undefined && (
        <details>
          <summary>Structured result</summary>
          <pre class="output" tabIndex={0}>
            {pretty(structured)}
          </pre>
        </details>
      )}
      {content.length === 0 && structured === undefined && <p class="dim">{failed ? 'It failed, and says no more.' : 'It has answered nothing.'}</p>}
    </div>
  )
}

function pictureOf(part: Record<string, unknown>): string | undefined {
  const type = text(part['mimeType'])
  const data = text(part['data'])
  const isPicture = part['type'] === 'image' && /^image\/(png|jpeg|gif|webp)$/.test(type) && /^[A-Za-z0-9+/=\s]+$/.test(data)
  return isPicture ? `data:${type};base64,${data}` : undefined
}
