import { useSignal } from '@preact/signals'
import { lazy, Suspense } from 'preact/compat'
import { useEffect } from 'preact/hooks'
import { attempt, Icon } from '../ui'
import type { PartProps } from './part'
import type { Process } from './processes'

const Terminal = lazy(() => import('./terminal'))
const TAG = 'dashboard'

/** The terminals of a sandbox that dashboards opened, each a tab. They go on when the page is closed. */
export function Terminals({ envd }: PartProps) {
  const open = useSignal<number[] | undefined>(undefined)
  const current = useSignal(0)
  useEffect(() => {
    envd
      .call<{ processes?: Process[] }>('process.Process/List', {})
      .then(({ processes = [] }) => {
        const mine = processes.filter(({ tag }) => tag?.startsWith(TAG)).map(({ pid }) => pid)
        open.value = mine.length ? mine : [0]
        current.value = open.value.at(-1)!
      })
      .catch(() => (open.value = [0]))
  }, [envd])
  if (!open.value) return <p class="loading">Loading…</p>
  const fresh = () => {
    // Zero stands for one whose process is not started yet.
    if (!open.value!.includes(0)) open.value = [...open.value!, 0]
    current.value = 0
  }
  const named = (pid: number) => {
    open.value = open.value!.map((one) => (one === 0 ? pid : one))
    if (current.value === 0) current.value = pid
  }
  const close = (pid: number) => {
    open.value = open.value!.filter((one) => one !== pid)
    current.value = open.value.at(-1) ?? -1
  }
  const end = (pid: number) =>
    attempt(async () => {
      if (pid) await envd.call('process.Process/SendSignal', { process: { pid }, signal: 'SIGNAL_SIGKILL' }).catch(() => undefined)
      close(pid)
    })
  return (
    <div class="terminals">
      <div class="strip">
        {open.value.map((pid) => (
          <span key={pid} class={pid === current.value ? 'pick on' : 'pick'}>
            <button type="button" onClick={() => (current.value = pid)}>
              {pid ? `bash ${pid}` : 'bash'}
            </button>
            <button type="button" aria-label={`End terminal ${pid}`} title="End" onClick={() => end(pid)}>
              <Icon of="close" />
            </button>
          </span>
        ))}
        <button type="button" class="quiet" id="new-terminal" onClick={fresh}>
          + New terminal
        </button>
      </div>
      {current.value < 0 ? (
        <p class="empty">No terminal is open.</p>
      ) : (
        <Suspense fallback={<p class="loading">Loading…</p>}>
          <Terminal key={`${envd.sandbox} ${current.value}`} envd={envd} pid={current.value} tag={TAG} onStart={named} />
        </Suspense>
      )}
    </div>
  )
}
