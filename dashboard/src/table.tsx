// Tables of all pages: a filter whose words stay in the address, rows that are chosen, and what is done with those.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { message } from './api'
import { query, setQuery } from './router'
import { Empty, Failed, toast } from './ui'

export interface Column<T> {
  name: string
  cell: (one: T) => ComponentChildren
  /** Like `wide`, which narrow windows leave out, or `right`. */
  class?: string
}

/** Something that is done with all chosen rows to which it applies. */
export interface BulkAction<T> {
  name: string
  danger?: boolean
  applies?: (one: T) => boolean
  run: (chosen: T[]) => Promise<unknown>
}

interface TableProps<T> {
  label: string
  /** Undefined until they are loaded. */
  rows: T[] | undefined
  error?: string
  id: (one: T) => string
  columns: Column<T>[]
  actions?: (one: T) => ComponentChildren
  bulk?: BulkAction<T>[]
  current?: (one: T) => boolean
  empty: ComponentChildren
}

/** The rows whose texts have all words of the search. */
export function useFilter<T>(rows: T[] | undefined, texts: (one: T) => (string | undefined)[]): T[] | undefined {
  const words = (query.value.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows?.filter((one) => {
    const all = texts(one).join('\n').toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

export const Search = ({ placeholder }: { placeholder: string }) => (
  <input
    type="search"
    placeholder={placeholder}
    aria-label="Search"
    title="/"
    value={query.value.get('q') ?? ''}
    onInput={(e) => setQuery({ q: e.currentTarget.value })}
  />
)

/** How many rows there are, and how many of them match. */
export const Counts = ({ of, shown }: { of: unknown[] | undefined; shown?: unknown[] | undefined }) => (
  <span class="counts">
    {of && (
      <>
        <b>{(shown ?? of).length}</b>
        {shown && shown.length < of.length && ` of ${of.length}`}
      </>
    )}
  </span>
)

export function Table<T>({ label, rows, error, id, columns, actions, bulk = [], current, empty }: TableProps<T>) {
  const picked = useSignal<ReadonlySet<string>>(new Set())
  if (!rows) return error ? <Failed text={error} /> : <p class="loading">Loading…</p>
  if (rows.length === 0) return <Empty>{query.value.get('q') ? 'Nothing matches.' : empty}</Empty>
  const chosen = rows.filter((one) => picked.value.has(id(one)))
  const toggle = (one: T, on: boolean) => {
    const next = new Set(picked.value)
    if (on) next.add(id(one))
    else next.delete(id(one))
    picked.value = next
  }
  const clear = () => (picked.value = new Set())
  return (
    <>
      {error && <Failed text={error} />}
      {chosen.length > 0 && <BulkBar label={label} chosen={chosen} actions={bulk} onDone={clear} />}
      <div class="scroll">
        <table aria-label={label}>
          <thead>
            <tr>
              {bulk.length > 0 && (
                <th class="check">
                  <input
                    type="checkbox"
                    aria-label="All that match"
                    checked={chosen.length === rows.length}
                    onChange={(e) => (picked.value = new Set(e.currentTarget.checked ? rows.map(id) : []))}
                  />
                </th>
              )}
              {columns.map((column) => (
                <th key={column.name} class={column.class}>
                  {column.name}
                </th>
              ))}
              {actions && (
                <th>
                  <span class="sr">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={id(one)} data-id={id(one)} class={current?.(one) || picked.value.has(id(one)) ? 'chosen' : ''}>
                {bulk.length > 0 && (
                  <td class="check">
                    <input
                      type="checkbox"
                      aria-label={'Choose ' + id(one)}
                      checked={picked.value.has(id(one))}
                      onChange={(e) => toggle(one, e.currentTarget.checked)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.name} class={column.class}>
                    {column.cell(one)}
                  </td>
                ))}
                {actions && <td class="acts">{actions(one)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

interface BulkBarProps<T> {
  label: string
  chosen: T[]
  actions: BulkAction<T>[]
  onDone: () => void
}

export function BulkBar<T>({ label, chosen, actions, onDone }: BulkBarProps<T>) {
  return (
    <div class="bulk" role="toolbar" aria-label={'Chosen ' + label.toLowerCase()}>
      <b>{chosen.length} chosen</b>
      {actions.map(({ name, danger, applies, run }) => {
        const those = applies ? chosen.filter(applies) : chosen
        return (
          <button key={name} type="button" class={danger ? 'danger' : ''} disabled={those.length === 0} onClick={() => run(those).then(onDone)}>
            {name}
          </button>
        )
      })}
      <button type="button" class="quiet" onClick={onDone}>
        Clear
      </button>
    </div>
  )
}

const AT_A_TIME = 6

/**
 * Does something to many, a few at a time, and says how it went. Gives whether all of it was done.
 *
 * @param what one of them and several, like `key` and `keys`
 * @param done what happened to them, like `revoked`
 */
export async function each<T>(all: T[], [one, several]: [string, string], done: string, action: (each: T) => Promise<unknown>): Promise<boolean> {
  const queue = [...all]
  const failures: string[] = []
  const work = async () => {
    while (queue.length > 0) await action(queue.pop()!).catch((e: unknown) => failures.push(message(e)))
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  if (failures.length === 0) toast(`${all.length === 1 ? one : `${all.length} ${several}`} ${done}`)
  else toast(all.length === 1 ? failures[0]! : `${failures.length} of ${all.length} failed: ${failures.at(-1)}`, true)
  return failures.length === 0
}
