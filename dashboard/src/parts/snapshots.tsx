import { useSignal } from '@preact/signals'
import { all, call, may, message } from '../api'
import { go } from '../router'
import type { PartProps } from '../pages/sandbox'
import { attempt, confirm, Empty, Failed, toast, useLoad } from '../ui'

interface Snapshot {
  snapshotID: string
  names: string[]
}

interface Fork {
  sandbox?: { sandboxID: string }
  error?: { message: string }
}

export function Snapshots({ id, detail }: PartProps) {
  const loaded = useLoad(() => all<Snapshot>(`/snapshots?sandboxID=${id}`, 300), [id])
  const busy = useSignal('')
  const work = async (what: string, action: () => Promise<unknown>) => {
    busy.value = what
    await attempt(action)
    busy.value = ''
    loaded.reload()
  }
  const take = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const name = String(new FormData(form).get('name') ?? '').trim()
    void work('Saving…', async () => {
      await call('POST', `/sandboxes/${id}/snapshots`, name ? { name } : {})
      form.reset()
      toast('Snapshot taken')
    })
  }
  const fork = () =>
    work('Forking…', async () => {
      const made = await call<Fork[]>('POST', `/sandboxes/${id}/fork`, { count: 1 })
      const copy = made[0]?.sandbox?.sandboxID
      if (!copy) throw new Error(message(made[0]?.error?.message ?? 'the fork failed'))
      toast('Forked')
      go('/sandboxes/' + copy)
    })
  const create = (snapshot: string) =>
    work('Creating…', async () => {
      const made = await call<{ sandboxID: string }>('POST', '/v2/sandboxes', { templateID: snapshot, timeout: 1800, secure: true })
      go('/sandboxes/' + made.sandboxID)
    })
  const back = async (snapshot: string) => {
    const yes = await confirm(`Go back to ${snapshot}?`, 'What this sandbox did since then is lost: its files, memory and processes.', 'Go back')
    if (yes) {
      await work('Going back…', async () => {
        await call('POST', `/sandboxes/${id}/rollback`, { snapshotID: snapshot })
        toast('The sandbox is as it was')
      })
    }
  }
  const running = detail.state === 'running'
  return (
    <div>
      {may.value.create && (
        <form class="strip" onSubmit={take}>
          <input class="grow" name="name" aria-label="Name" placeholder="Name (optional)" spellcheck={false} autocomplete="off" />
          <button disabled={!running || busy.value !== ''}>{busy.value || 'Take a snapshot'}</button>
          <button type="button" id="fork" disabled={!running || busy.value !== ''} onClick={fork}>
            Fork now
          </button>
        </form>
      )}
      {loaded.error ? (
        <Failed text={loaded.error} />
      ) : !loaded.value ? (
        <p class="loading">Loading…</p>
      ) : loaded.value.length === 0 ? (
        <Empty>No snapshot of this sandbox is kept.</Empty>
      ) : (
        <ul class="tree">
          <li>
            <span class="mono">{id}</span>
            <ul>
              {loaded.value.map(({ snapshotID }) => (
                <li key={snapshotID}>
                  <span class="mono">{snapshotID}</span>
                  {may.value.create && (
                    <span class="acts">
                      <button type="button" disabled={busy.value !== ''} onClick={() => create(snapshotID)}>
                        New sandbox from it
                      </button>
                      <button type="button" disabled={busy.value !== ''} onClick={() => back(snapshotID)}>
                        Go back to it
                      </button>
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </li>
        </ul>
      )}
    </div>
  )
}
