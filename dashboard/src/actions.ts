// What people do with sandboxes, one or many.
import { call } from './api'
import { each } from './table'
import { confirm } from './ui'

const WORDS: [string, string] = ['Sandbox', 'sandboxes']

export const pause = (ids: string[]) => each(ids, WORDS, 'paused', (id) => call('POST', `/sandboxes/${id}/pause`, {}))
export const resume = (ids: string[]) => each(ids, WORDS, 'resumed', (id) => call('POST', `/v2/sandboxes/${id}/connect`, {}))
export const extend = (ids: string[], seconds: number) =>
  each(ids, WORDS, 'extended', (id) => call('POST', `/sandboxes/${id}/timeout`, { timeout: seconds }))

export async function kill(ids: string[]): Promise<void> {
  const what = ids.length === 1 ? `sandbox ${ids[0]}` : `${ids.length} sandboxes`
  const yes = await confirm(`Kill ${what}?`, 'Its processes end and its files are deleted. This cannot be undone.', 'Kill')
  if (yes) await each(ids, WORDS, 'killed', (id) => call('DELETE', `/sandboxes/${id}`))
}
