import { useSignal } from '@preact/signals'
import { all, get, may } from '../api'
import { Counts, Search, Table, useFilter } from '../table'
import { Ago, Dialog, Failed, shape, State, useLoad } from '../ui'
import { Create } from './create'

export interface Template {
  templateID: string
  buildID: string
  cpuCount: number
  memoryMB: number
  diskSizeMB: number
  public: boolean
  aliases: string[]
  names: string[]
  createdAt: string
  updatedAt: string
  lastSpawnedAt?: string
  spawnCount: number
  buildCount: number
  buildStatus: string
}

interface Build {
  buildID: string
  status: string
  createdAt: string
  finishedAt?: string
  cpuCount: number
  memoryMB: number
  diskSizeMB: number
}

interface Status {
  status: string
  logEntries: { timestamp: string; message: string; level: string }[]
  reason?: { message: string; step?: string }
}

export function Templates() {
  const loaded = useLoad(() => all<Template>('/v2/templates'), [], 5000)
  const shown = useSignal<Template | null>(null)
  const creating = useSignal('')
  const list = useFilter(loaded.value, ({ templateID, names, aliases }) => [templateID, ...names, ...aliases])
  return (
    <section>
      <header class="page">
        <h1>Templates</h1>
        <Counts of={loaded.value} shown={list} />
      </header>
      <div class="filters" role="search">
        <Search placeholder="Search names and ids" />
      </div>
      <Table
        label="Templates"
        rows={list}
        error={loaded.error}
        id={({ templateID }) => templateID}
        columns={[
          {
            name: 'Name',
            cell: (one) => (
              <>
                <button type="button" class="link" title={one.templateID} onClick={() => (shown.value = one)}>
                  {one.aliases[0] ?? one.names[0] ?? one.templateID}
                </button>
                {one.public && <span class="tag plain">public</span>}
              </>
            ),
          },
          { name: 'State', cell: ({ buildStatus }) => <State state={buildStatus} /> },
          { name: 'Size', class: 'wide dim', cell: shape },
          { name: 'Sandboxes', class: 'right num', cell: ({ spawnCount }) => spawnCount },
          { name: 'Last used', class: 'wide dim', cell: ({ lastSpawnedAt }) => (lastSpawnedAt ? <Ago at={lastSpawnedAt} /> : 'never') },
          { name: 'Builds', class: 'wide num', cell: ({ buildCount }) => buildCount },
          { name: 'Changed', class: 'mid dim', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
        ]}
        actions={(one) =>
          may.value.create &&
          one.buildStatus === 'ready' && (
            <button type="button" onClick={() => (creating.value = one.aliases[0] ?? one.templateID)}>
              New sandbox
            </button>
          )
        }
        empty="No templates."
      />
      {shown.value && <One template={shown.value} onClose={() => (shown.value = null)} />}
      {creating.value && <Create template={creating.value} onClose={() => (creating.value = '')} />}
    </section>
  )
}

function One({ template, onClose }: { template: Template; onClose: () => void }) {
  const id = template.templateID
  const builds = useLoad((end) => get<{ builds: Build[] }>('/templates/' + id, end), [id], 4000)
  const tags = useLoad((end) => get<{ tag: string; buildID: string }[]>(`/templates/${id}/tags`, end), [id])
  const chosen = useSignal('')
  const build = chosen.value || builds.value?.builds[0]?.buildID
  return (
    <Dialog title={template.aliases[0] ?? id} onClose={onClose}>
      <p class="mono dim">{id}</p>
      {builds.error && <Failed text={builds.error} />}
      <table>
        <thead>
          <tr>
            <th>Build</th>
            <th>State</th>
            <th>Tags</th>
            <th>Begun</th>
          </tr>
        </thead>
        <tbody>
          {builds.value?.builds.map((one) => (
            <tr key={one.buildID} class={one.buildID === build ? 'chosen' : ''}>
              <td class="mono">
                <button type="button" class="link" onClick={() => (chosen.value = one.buildID)}>
                  {one.buildID.slice(0, 8)}
                </button>
              </td>
              <td>
                <State state={one.status} />
              </td>
              <td>{tags.value?.filter(({ buildID }) => buildID === one.buildID).map(({ tag }) => tag).join(', ')}</td>
              <td class="dim">
                <Ago at={one.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {build && <BuildLog key={build} template={id} build={build} />}
    </Dialog>
  )
}

function BuildLog({ template, build }: { template: string; build: string }) {
  const status = useLoad((end) => get<Status>(`/templates/${template}/builds/${build}/status?logsOffset=0&limit=100`, end), [build], 2000)
  const entries = status.value?.logEntries ?? []
  if (status.error) return <Failed text={status.error} />
  return (
    <>
      {status.value?.reason && <Failed text={status.value.reason.message} />}
      {entries.length > 0 && <pre class="output">{entries.map(({ message }) => message).join('\n')}</pre>}
    </>
  )
}
