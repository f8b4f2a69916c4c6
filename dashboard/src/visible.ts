// Whether somebody can see the page. A browser has few connections to a server without TLS, so pages that nobody sees leave theirs.
import { effect, signal } from '@preact/signals'

export const visible = signal(!document.hidden)
document.addEventListener('visibilitychange', () => (visible.value = !document.hidden))

const LEAVES_AFTER = 20_000

/** A signal that ends with another one, or when the page is hidden for a while. */
export function whileSeen(end: AbortSignal): AbortSignal {
  const left = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = effect(() => {
    clearTimeout(timer)
    if (!visible.value) timer = setTimeout(() => left.abort(), LEAVES_AFTER)
  })
  const both = AbortSignal.any([end, left.signal])
  both.addEventListener('abort', () => {
    clearTimeout(timer)
    stop()
  })
  return both
}

/** Waits until the page is seen, or not needed any more. */
export function seen(end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (visible.peek() || end.aborted) return resolve()
    const stop = visible.subscribe((now) => now && done())
    const done = () => {
      end.removeEventListener('abort', done)
      queueMicrotask(() => stop())
      resolve()
    }
    end.addEventListener('abort', done)
  })
}
