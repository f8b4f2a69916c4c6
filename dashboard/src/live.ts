// The sandboxes of the team, as the server sends them while they change. Hidden pages do not listen.
import { effect, signal } from '@preact/signals'
import { ApiError, follow, session, team } from './api'
import { visible } from './visible'

export interface Sandbox {
  sandboxID: string
  templateID: string
  buildID: string
  alias?: string
  startedAt: string
  endAt: string
  cpuCount: number
  memoryMB: number
  diskSizeMB: number
  metadata: Record<string, string>
  state: string
  lifecycle: { autoResume: boolean; onTimeout: string }
  keyID?: string
  durability?: string
  volumeMounts: { name: string; path: string }[]
}

export const sandboxes = signal<ReadonlyMap<string, Sandbox> | null>(null)

/** What keeps the list from being live; empty while it is. */
export const trouble = signal('')

const HIDDEN_AFTER = 5_000
const RETRY = [500, 1000, 2000, 5000, 10_000]

let running: AbortController | undefined
let ending: ReturnType<typeof setTimeout> | undefined
let followed = ''

effect(() => {
  const wanted = session.value?.signedIn ? (team.value?.id ?? '') : ''
  const scope = team.value?.scope ?? ''
  const lists = wanted && !scope.startsWith('sandbox:') && scope !== 'templates' ? wanted : ''
  clearTimeout(ending)
  if (lists !== followed) {
    running?.abort()
    running = undefined
    followed = lists
    sandboxes.value = lists ? null : new Map()
  }
  if (!lists) return
  if (!visible.value) {
    ending = setTimeout(() => {
      running?.abort()
      running = undefined
    }, HIDDEN_AFTER)
  } else if (!running) {
    running = new AbortController()
    void listen(running.signal)
  }
})

async function listen(signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await follow('/v2/sandboxes/live', (event, data) => {
        tries = 0
        trouble.value = ''
        apply(event, JSON.parse(data) as { set: Sandbox[]; gone?: string[] })
      }, signal)
    } catch (e) {
      if (signal.aborted || (e instanceof ApiError && e.status === 401)) break
      trouble.value = e instanceof ApiError ? e.message : 'the connection was cut'
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY[Math.min(tries, RETRY.length - 1)]))
  }
  if (running?.signal === signal) running = undefined
}

function apply(event: string, { set, gone }: { set: Sandbox[]; gone?: string[] }): void {
  const next = event === 'all' ? new Map<string, Sandbox>() : new Map(sandboxes.value ?? [])
  for (const one of set) next.set(one.sandboxID, one)
  for (const id of gone ?? []) next.delete(id)
  sandboxes.value = next
}
