import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { all, call, may } from '../api'
import { sandboxes, type Sandbox } from '../live'
import type { PartProps } from './part'
import { go, href } from '../router'
import { Ago, attempt, confirm, copy, Empty, Failed, Icon, State, toast, useLoad } from '../ui'

interface Snapshot {
  snapshotID: string
  names: string[]
  templateID: string
  buildID: string
  sandboxID?: string
  createdAt: string
}

interface Fork {
  sandbox?: { sandboxID: string }
  error?: { message: string }
}

/** A sandbox with the snapshots that were taken of it, and a snapshot with the sandboxes that began with it. */
interface Node {
  id: string
  snapshot?: Snapshot
  sandbox?: Sandbox
  children: Node[]
}

/**
 * The tree that has this sandbox in it.
 *
 * @param all snapshots, newest first
 */
export function treeOf(id: string, all: Snapshot[], living: ReadonlyMap<string, Sandbox>): Node {
  const byBuild = new Map(all.map((snapshot) => [snapshot.buildID, snapshot]))
  const parent = (sandbox: string): string | undefined => byBuild.get(living.get(sandbox)?.buildID ?? '')?.sandboxID
  let root = id
  const seen = new Set([root])
  for (let above = parent(root); above && !seen.has(above); above = parent(root)) {
    seen.add(above)
    root = above
  }
  const begun = new Map<string, Sandbox[]>()
  for (const sandbox of living.values()) {
    const of = begun.get(sandbox.buildID)
    if (of) of.push(sandbox)
    else begun.set(sandbox.buildID, [sandbox])
  }
  const placed = new Set<string>()
  const grow = (sandbox: string): Node => {
    placed.add(sandbox)
    const node: Node = { id: sandbox, children: [] }
    const one = living.get(sandbox)
    if (one) node.sandbox = one
    for (const snapshot of all.filter(({ sandboxID }) => sandboxID === sandbox).reverse()) {
      const from = (begun.get(snapshot.buildID) ?? []).filter(({ sandboxID }) => !placed.has(sandboxID))
      node.children.push({ id: snapshot.snapshotID, snapshot, children: from.map(({ sandboxID }) => grow(sandboxID)) })
    }
    return node
  }
  return grow(root)
}

export function Snapshots({ id, detail }: PartProps) {
  const loaded = useLoad(() => all<Snapshot>('/snapshots', 1000), [id], 5000)
  const busy = useSignal('')
  const living = sandboxes.value
  const tree = useMemo(() => treeOf(id, loaded.value ?? [], living ?? new Map()), [id, loaded.value, living])
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
  const fork = (of: string) =>
    work('Forking…', async () => {
      const made = await call<Fork[]>('POST', `/sandboxes/${of}/fork`, { count: 1, timeout: 1800 })
      const copied = made[0]?.sandbox?.sandboxID
      if (!copied) throw new Error(made[0]?.error?.message ?? 'the fork failed')
      toast('Forked')
      go('/sandboxes/' + copied)
    })
  const start = (snapshot: string) =>
    work('Creating…', async () => {
      const made = await call<{ sandboxID: string }>('POST', '/v2/sandboxes', { templateID: snapshot, timeout: 1800, secure: true })
      toast(`Sandbox ${made.sandboxID} began with it`)
    })
  const back = async (sandbox: string, snapshot: string) => {
    const yes = await confirm(`Go back to ${snapshot}?`, `What ${sandbox} did since then is lost: its files, memory and processes.`, 'Go back')
    if (yes) {
      await work('Going back…', async () => {
        await call('POST', `/sandboxes/${sandbox}/rollback`, { snapshotID: snapshot, timeout: 1800 })
        toast('The sandbox is as it was')
      })
    }
  }
  const remove = async (snapshot: Snapshot) => {
    const yes = await confirm(`Delete ${snapshot.snapshotID}?`, 'Sandboxes that began with it stay.', 'Delete')
    if (yes) await work('Deleting…', () => call('DELETE', '/templates/' + snapshot.templateID))
  }
  const alone = (snapshot: Snapshot) => (loaded.value ?? []).filter(({ templateID }) => templateID === snapshot.templateID).length === 1
  const isBusy = busy.value !== ''
  const draw = (node: Node) =>
    node.snapshot ? (
      <li key={node.id} class="snapshot" data-snapshot={node.id}>
        <span class="node">
          <span class="mono cut" title={node.id}>
            {node.id}
          </span>
          <button type="button" class="icon" aria-label={`Copy ${node.id}`} title="Copy the id" onClick={() => copy(node.id)}>
            <Icon of="copy" />
          </button>
          <span class="dim">
            <Ago at={node.snapshot.createdAt} />
          </span>
          {may.value.create && (
            <span class="acts">
              <button type="button" disabled={isBusy} onClick={() => start(node.id)}>
                New sandbox
              </button>
              {living?.has(node.snapshot.sandboxID ?? '') && (
                <button type="button" disabled={isBusy} onClick={() => back(node.snapshot!.sandboxID!, node.id)}>
                  Go back to it
                </button>
              )}
              {alone(node.snapshot) && (
                <button type="button" class="danger" disabled={isBusy} onClick={() => remove(node.snapshot!)}>
                  Delete
                </button>
              )}
            </span>
          )}
        </span>
        {node.children.length > 0 && <ul>{node.children.map(draw)}</ul>}
      </li>
    ) : (
      <li key={node.id} data-sandbox={node.id}>
        <span class={node.id === id ? 'node here' : 'node'}>
          {node.id === id || !node.sandbox ? <span class="mono">{node.id}</span> : <a class="mono" href={href(`/sandboxes/${node.id}/snapshots`)}>{node.id}</a>}
          <State state={node.sandbox?.state ?? 'gone'} />
          {node.id === id && <span class="dim">this sandbox</span>}
          {may.value.create && node.sandbox?.state === 'running' && (
            <span class="acts">
              <button type="button" disabled={isBusy} onClick={() => fork(node.id)} {...(node.id === id ? { id: 'fork' } : {})}>
                Fork now
              </button>
            </span>
          )}
        </span>
        {node.children.length > 0 && <ul>{node.children.map(draw)}</ul>}
      </li>
    )
  return (
    <div>
      {may.value.create && (
        <form class="strip" onSubmit={take}>
          <input class="grow" name="name" aria-label="Name" placeholder="Name (optional)" spellcheck={false} autocomplete="off" />
          <button class="primary" disabled={detail.state !== 'running' || isBusy}>
            {busy.value || 'Take a snapshot'}
          </button>
        </form>
      )}
      {loaded.error ? (
        <Failed text={loaded.error} />
      ) : !loaded.value || !living ? (
        <p class="loading">Loading…</p>
      ) : (
        <>
          <ul class="tree">{draw(tree)}</ul>
          {!loaded.value.some(({ sandboxID }) => sandboxID === id) && <Empty>No snapshot of this sandbox is kept.</Empty>}
        </>
      )}
    </div>
  )
}
