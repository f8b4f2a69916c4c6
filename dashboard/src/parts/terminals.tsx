import { useSignal } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import { useEffect } from 'preact/hooks'
import { attempt, Icon } from '../ui'
import type { PartProps } from './part'
import type { Process } from './processes'

const Terminal = lazy(() => import('./terminal'))
const TAG = 'dashboard'

/** A terminal on the page. Its process is 0 until it has started. */
interface Tab {
  key: number
  pid: number
}

let next = 1
const tab = (pid: number): Tab => ({ key: next++, pid })

/** The terminals of a sandbox that dashboards opened, each a tab. They go on when the page is closed. */
export function Terminals({ envd }: PartProps) {
  const open = useSignal<Tab[] | undefined>(undefined)
  const current = useSignal(0)
  const show = (tabs: Tab[]) => {
    open.value = tabs
    current.value = tabs.at(-1)?.key ?? 0
  }
  useEffect(() => {
    envd
      .call<{ processes?: Process[] }>('process.Process/List', {})
      .then(({ processes = [] }) => {
        const mine = processes.filter(({ tag }) => tag?.startsWith(TAG)).map(({ pid }) => tab(pid))
        show(mine.length ? mine : [tab(0)])
      })
      .catch(() => show([tab(0)]))
  }, [envd])
  if (!open.value) return <p class="loading">Loading…</p>
  const began = (key: number, pid: number) => (open.value = open.value!.map((one) => (one.key === key ? { key, pid } : one)))
  const close = (key: number) => {
    open.value = open.value!.filter((one) => one.key !== key)
    if (current.value === key) current.value = open.value.at(-1)?.key ?? 0
  }
  const end = ({ key, pid }: Tab) =>
    attempt(async () => {
      if (pid) await envd.call('process.Process/SendSignal', { process: { pid }, signal: 'SIGNAL_SIGKILL' }).catch(() => undefined)
      close(key)
    })
  const shown = open.value.find(({ key }) => key === current.value)
  return (
    <div class="terminals">
      <div class="strip">
        {open.value.map((one) => (
          <span key={one.key} class={one === shown ? 'pick on' : 'pick'}>
            <button type="button" aria-pressed={one === shown} onClick={() => (current.value = one.key)}>
              {one.pid ? `bash ${one.pid}` : 'bash'}
            </button>
            <button type="button" aria-label={`End terminal ${one.pid}`} title="End" onClick={() => end(one)}>
              <Icon of="close" />
            </button>
          </span>
        ))}
        <button type="button" class="quiet" id="new-terminal" onClick={() => show([...open.value!, tab(0)])}>
          + New terminal
        </button>
      </div>
      {!shown ? (
        <p class="empty">No terminal is open.</p>
      ) : (
        <Suspense fallback={<p class="loading">Loading…</p>}>
          <Terminal
            key={`${envd.sandbox} ${shown.key}`}
            envd={envd}
            pid={shown.pid}
            tag={TAG}
            onStart={(pid: number) => began(shown.key, pid)}
          />
        </Suspense>
      )}
    </div>
  )
}
