// Forms of all pages: what the server says about a field is shown at that field.
import { signal, useSignal, type Signal } from '@preact/signals'
import { cloneElement, createContext, type ComponentChildren, type VNode } from 'preact'
import { useContext, useId, useRef } from 'preact/hooks'
import { message } from './api'
import { copy, Dialog, Failed } from './ui'

interface Problem {
  /** Empty if it is about no field. */
  field: string
  text: string
}

/** A field that the page itself refuses. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    text: string,
  ) {
    super(text)
  }
}

const Problems = createContext<Signal<Problem | undefined>>(signal(undefined))

export const text = (form: FormData, field: string): string => String(form.get(field) ?? '').trim()

interface FormProps {
  action: string
  /** What an error is about; the form stays open. */
  submit: (form: FormData) => Promise<unknown>
  /** Fields whose names the API spells in another way. */
  names?: Record<string, string>
  children: ComponentChildren
}

export function Form({ action, submit, names = {}, children }: FormProps) {
  const problem = useSignal<Problem | undefined>(undefined)
  const busy = useSignal(false)
  const ref = useRef<HTMLFormElement>(null)
  /** The API puts the names of fields in quotes. */
  const about = (e: unknown): Problem => {
    const text = message(e).replace(/^[\w ]+: (?=')/, '')
    const quoted = [...text.matchAll(/'([\w.-]+)'/g)].map(([, name]) => names[name!] ?? name!)
    const known = (name: string) => ref.current?.elements.namedItem(name) != null
    return { field: e instanceof FieldError ? e.field : (quoted.find(known) ?? ''), text }
  }
  const send = async (event: SubmitEvent) => {
    event.preventDefault()
    if (busy.value) return
    busy.value = true
    problem.value = undefined
    try {
      await submit(new FormData(ref.current!))
    } catch (e) {
      const found = (problem.value = about(e))
      if (found.field) ref.current?.querySelector<HTMLElement>(`[name="${CSS.escape(found.field)}"]`)?.focus()
    }
    busy.value = false
  }
  return (
    <Problems.Provider value={problem}>
      <form class="fields" ref={ref} onSubmit={send}>
        {children}
        {problem.value && !problem.value.field && <Failed text={problem.value.text} />}
        <footer>
          <button class="primary" disabled={busy.value}>
            {busy.value ? 'Just a moment…' : action}
          </button>
        </footer>
      </form>
    </Problems.Provider>
  )
}

interface FormDialogProps extends FormProps {
  title: string
  onClose: () => void
}

/** A form over the page, which closes when what it asks for is done. */
export function FormDialog({ title, onClose, submit, ...rest }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...rest} submit={async (form) => (await submit(form), onClose())} />
    </Dialog>
  )
}

/** What is said about a field, with the name that people see. */
function useProblem(field: string, label: string): string {
  const problem = useContext(Problems).value
  if (problem?.field !== field) return ''
  return problem.text.replace(/^'[\w.-]+'(?=[: ])/, label)
}

const Note = ({ id, problem, hint }: { id: string; problem: string; hint?: string | undefined }) =>
  problem ? (
    <span class="problem" id={id} role="alert">
      {problem}
    </span>
  ) : hint ? (
    <span class="hint" id={id}>
      {hint}
    </span>
  ) : null

interface FieldProps {
  name: string
  label: string
  hint?: string
  /** An input, a select or a textarea. */
  children: VNode
}

export function Field({ name, label, hint, children }: FieldProps) {
  const id = useId()
  const problem = useProblem(name, label)
  const control = cloneElement(children, {
    id,
    name,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': problem || hint ? id + '-note' : undefined,
  })
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control}
      <Note id={id + '-note'} problem={problem} hint={hint} />
    </div>
  )
}

interface ChoicesProps {
  name: string
  label: string
  options: { value: string; label: string }[]
  chosen: string[]
}

/** Any number of options. */
export function Choices({ name, label, options, chosen }: ChoicesProps) {
  const id = useId()
  const problem = useProblem(name, label)
  return (
    <fieldset class="field" aria-describedby={problem ? id : undefined}>
      <legend>{label}</legend>
      <div class="choices">
        {options.map((one) => (
          <label key={one.value}>
            <input type="checkbox" name={name} value={one.value} defaultChecked={chosen.includes(one.value)} />
            {one.label}
          </label>
        ))}
      </div>
      <Note id={id} problem={problem} />
    </fieldset>
  )
}

/** What the server keeps no copy of. */
export const ShownOnce = ({ what, value }: { what: string; value: string }) => (
  <>
    <p>This is the only time that the {what} is shown.</p>
    <pre class="output" id="made">
      {value}
    </pre>
    <footer>
      <button type="button" class="primary" onClick={() => copy(value)}>
        Copy
      </button>
    </footer>
  </>
)

/** Lines like `NAME=value`. */
export function pairs(form: FormData, field: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const line of String(form.get(field) ?? '').split('\n').filter((one) => one.trim())) {
    const at = line.indexOf('=')
    if (at < 1) throw new FieldError(field, `Each line must be NAME=value, and not “${line.slice(0, 60)}”`)
    found[line.slice(0, at).trim()] = line.slice(at + 1)
  }
  return found
}
