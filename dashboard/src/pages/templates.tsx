import { useSignal } from '@preact/signals'
import { may } from '../api'
import { go, href } from '../router'
import { Counts, Search, Table, useFilter } from '../table'
import { templates } from '../templates'
import { Ago, shape, State, useLoad } from '../ui'
import { Create } from './create'

export function Templates() {
  const loaded = useLoad(() => templates(), [], 5000)
  const creating = useSignal('')
  const list = useFilter(loaded.value, ({ templateID, names, aliases }) => [templateID, ...names, ...aliases])
  return (
    <section>
      <header class="page">
        <h1>Templates</h1>
        <Counts of={loaded.value} shown={list} />
        {may.value.templates && (
          <span class="acts">
            <button type="button" id="create" class="primary" onClick={() => go('/templates/new')}>
              Build a template
            </button>
          </span>
        )}
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
                <a title={one.templateID} href={href('/templates/' + one.templateID)}>
                  {one.aliases[0] ?? one.names[0] ?? one.templateID}
                </a>
                {one.public && <span class="tag plain">public</span>}
              </>
            ),
          },
          { name: 'State', cell: ({ buildStatus }) => <State state={buildStatus} /> },
          { name: 'Size', class: 'wide dim', cell: shape },
          { name: 'Ready', class: 'mid right num', cell: ({ spares }) => <span title="Sandboxes that were started in advance">{spares || <span class="dim">–</span>}</span> },
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
      {creating.value && <Create template={creating.value} onClose={() => (creating.value = '')} />}
    </section>
  )
}
