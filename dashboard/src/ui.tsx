// Parts that all pages use.
import { signal, useSignal } from '@preact/signals'
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { message } from './api'

interface Toast {
  id: number
  text: string
  bad: boolean
}

const toasts = signal<Toast[]>([])
let counter = 0

export function toast(text: string, bad = false): void {
  const id = ++counter
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }]
  setTimeout(() => (toasts.value = toasts.value.filter((one) => one.id !== id)), bad ? 9000 : 3500)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, bad }) => (
        <div key={id} class={bad ? 'toast bad' : 'toast'}>
          {text}
        </div>
      ))}
    </div>
  )
}

/** Runs an action of the user; what goes wrong is shown. */
export async function attempt(action: () => Promise<unknown>, done = ''): Promise<boolean> {
  try {
    await action()
    if (done) toast(done)
    return true
  } catch (e) {
    toast(message(e), true)
    return false
  }
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied')
  } catch {
    toast('This browser allows copying on https and localhost only', true)
  }
}

/** The time now, for texts that count; changes every second. */
export const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1000)

export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 60) return `${s} s`
  if (s < 600) return `${Math.floor(s / 60)} m ${String(s % 60).padStart(2, '0')} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} m`
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`
}

const coarse = (ms: number): string => (ms >= 60_000 && ms < 3_600_000 ? `${Math.floor(ms / 60_000)} min` : span(ms))

/** What a sandbox may use at most. */
export const shape = (one: { cpuCount: number; memoryMB: number; diskSizeMB: number }): string =>
  `${one.cpuCount} CPU · ${size(one.memoryMB * 2 ** 20)} · ${size(one.diskSizeMB * 2 ** 20)} disk`

export const Ago = ({ at }: { at: string }) => (
  <time dateTime={at} title={moment(at)}>
    {coarse(now.value - Date.parse(at))} ago
  </time>
)

export const Left = ({ at }: { at: string }) => {
  const left = Date.parse(at) - now.value
  return (
    <time dateTime={at} title={moment(at)} class={left < 60_000 ? 'soon' : ''}>
      {left > 0 ? span(left) : 'ending'}
    </time>
  )
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

const TIME = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const DAY = new Intl.DateTimeFormat([], { month: 'short', day: 'numeric' })
const MOMENT = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** A time of today; of other days with the day. */
export function clock(at: string | number): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date(now.peek()).toDateString()
  return isToday ? TIME.format(date) : `${DAY.format(date)} ${TIME.format(date)}`
}

export const moment = (at: string | number): string => MOMENT.format(new Date(at))

export const State = ({ state }: { state: string }) => (
  <span class={'state ' + (/^[a-z ]+$/.test(state) ? state.replace(' ', '-') : '')}>{state}</span>
)

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onClose={onClose}
      onClick={(e) => e.target === ref.current && ref.current?.close()}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={() => ref.current?.close()}>
          <Icon of="close" />
        </button>
      </header>
      {children}
    </dialog>
  )
}

interface Question {
  title: string
  text: string
  action: string
  answer: (yes: boolean) => void
}

const question = signal<Question | null>(null)

/** Asks before something is lost. */
export function confirm(title: string, text: string, action: string): Promise<boolean> {
  return new Promise((answer) => (question.value = { title, text, action, answer }))
}

export function Confirmation() {
  const asked = question.value
  if (!asked) return null
  const end = (yes: boolean) => {
    asked.answer(yes)
    question.value = null
  }
  return (
    <Dialog title={asked.title} onClose={() => end(false)}>
      <p>{asked.text}</p>
      <footer>
        <button type="button" onClick={() => end(false)}>
          Cancel
        </button>
        <button type="button" class="danger" autofocus onClick={() => end(true)}>
          {asked.action}
        </button>
      </footer>
    </Dialog>
  )
}

/** Loads something when the page opens, and again every so often; a failure is shown in its place. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, keys: unknown[], every = 0) {
  const value = useSignal<T | undefined>(undefined)
  const error = useSignal('')
  const again = useSignal(0)
  const turn = again.value
  useEffect(() => {
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const run = async () => {
      if (!document.hidden || value.peek() === undefined) {
        try {
          const loaded = await load(end.signal)
          if (end.signal.aborted) return
          value.value = loaded
          error.value = ''
        } catch (e) {
          if (end.signal.aborted) return
          error.value = message(e)
        }
      }
      if (every) timer = setTimeout(run, every)
    }
    void run()
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [...keys, turn])
  return { value: value.value, error: error.value, reload: () => again.value++ }
}

/** Keeps what breaks in it from the rest of the page. */
export class Guard extends Component<{ children: ComponentChildren }, { broken: string }> {
  override state = { broken: '' }

  static getDerivedStateFromError(e: unknown) {
    return { broken: message(e) || 'unknown' }
  }

  override render() {
    if (!this.state.broken) return this.props.children
    return (
      <div class="empty">
        <p>This cannot be shown: {this.state.broken.slice(0, 300)}</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </p>
      </div>
    )
  }
}

/** What is loaded; when it cannot be loaded again, what was there before stays. */
export function Loaded<T>({ of, children }: { of: { value: T | undefined; error: string }; children: (value: T) => ComponentChildren }) {
  return (
    <>
      {of.error && <Failed text={of.error} />}
      {of.value !== undefined ? children(of.value) : !of.error && <p class="loading">Loading…</p>}
    </>
  )
}

export const Failed = ({ text }: { text: string }) => (
  <p class="failed" role="alert">
    {text}
  </p>
)

const ICONS = {
  copy: 'M9 9h10v10H9zM5 15V5h10',
  pause: 'M8 5v14M16 5v14',
  play: 'M8 5l11 7-11 7z',
  close: 'M6 6l12 12M18 6L6 18',
  download: 'M12 4v11M7 10l5 5 5-5M5 20h14',
  up: 'M12 19V6M6 12l6-6 6 6',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 3',
}

export const Icon = ({ of }: { of: keyof typeof ICONS }) => (
  <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
    <path d={ICONS[of]} />
  </svg>
)

export const Empty = ({ children }: { children: ComponentChildren }) => <div class="empty">{children}</div>

/** @param alarm whether a high part is bad */
export function Meter({ part, label, alarm = true }: { part: number; label: string; alarm?: boolean }) {
  const percent = Math.min(100, Math.max(0, part * 100))
  return (
    <span class="meter" title={label}>
      <span class="bar" aria-hidden="true">
        <span class={alarm && percent > 90 ? 'fill high' : 'fill'} style={{ width: percent + '%' }} />
      </span>
      <span class="number">{label}</span>
    </span>
  )
}
