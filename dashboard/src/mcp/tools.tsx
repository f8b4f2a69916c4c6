// The tools of all servers of a gateway.
import { useSignal } from '@preact/signals'
import { plain } from '../plain'
import { Search, Table, useFilter } from '../table'
import type { Gateway, Tool } from './gateway'
import { Try } from './try'

interface ToolsProps {
  gateway: Gateway
  tools: Tool[] | undefined
  error: string
}

export function Tools({ gateway, tools, error }: ToolsProps) {
  const shown = useFilter(tools, ({ name, title, description }) => [name, title, description])
  const trying = useSignal<Tool | null>(null)
  return (
    <section aria-label="Tools">
      <header class="strip">
        <h2 class="grow">Tools</h2>
        <Search placeholder="Search names and descriptions" />
      </header>
      <Table
        label="Tools"
        rows={shown}
        error={plain(error)}
        id={({ name }) => name}
        columns={[
          { name: 'Tool', class: 'mono wrap', cell: ({ name }) => plain(name) },
          {
            name: 'What it does',
            class: 'mid wrap dim',
            cell: ({ title, description }) => plain(description || title).slice(0, 240),
          },
        ]}
        actions={(one) => (
          <button type="button" aria-label={'Try ' + plain(one.name)} onClick={() => (trying.value = one)}>
            Try
          </button>
        )}
        empty="No tools. A server that starts has none yet."
      />
      {trying.value && <Try key={trying.value.name} gateway={gateway} tool={trying.value} onClose={() => (trying.value = null)} />}
    </section>
  )
}
