// Names of the team's API keys, for viewers who may list them.
import { signal } from '@preact/signals'
import { get, may, team } from './api'

const names = signal<ReadonlyMap<string, string>>(new Map())
let known = ''

/** The name of the key that something was made with; its id if the viewer may not know the name. */
export function keyName(id: string): string {
  return names.value.get(id) ?? id.slice(0, 8)
}

/** Asks for the names, once for each team. */
export function loadKeyNames(): void {
  const of = team.value?.id ?? ''
  if (!may.value.all || !of || known === of) return
  known = of
  get<{ id: string; name: string }[]>('/api-keys')
    .then((keys) => (names.value = new Map(keys.map(({ id, name }) => [id, name]))))
    .catch(() => (known = ''))
}
