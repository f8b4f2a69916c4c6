// Webhooks, and what the API does with them.
import { call } from '../api'
import { each } from '../table'
import { confirm } from '../ui'

export interface Webhook {
  id: string
  name: string
  url: string
  events: string[]
  enabled: boolean
  createdAt: string
  failingSince: string | null
  disabledAt: string | null
  disabledReason: string | null
}

export interface Attempt {
  id: string
  status: string
  durationMs: number
  requestBody: string
  requestHeaders: string
  requestUrl: string
  responseBody?: string | null
  responseHeaders?: string | null
  responseHttpStatusCode?: number | null
  errorClass: string | null
  errorMessage?: string | null
  timestamp: string
}

export interface Delivery {
  eventId: string
  eventType: string
  sandboxId: string
  state: string
  attempts: Attempt[]
}

export interface Stats {
  buckets: { timestamp: string; total: number; failed: number }[]
  total: number
  failed: number
  durationMs: { average: number }
}

export const TYPES = ['created', 'updated', 'paused', 'resumed', 'killed', 'checkpointed']
export const PREFIX = 'sandbox.lifecycle.'
export const WORDS: [string, string] = ['Webhook', 'webhooks']

export const short = (type: string): string => type.replace(PREFIX, '')
export const stateOf = ({ enabled, failingSince }: Webhook): string => (!enabled ? 'off' : failingSince ? 'failing' : 'on')

export const test = (one: Webhook): Promise<Attempt> => call<Attempt>('POST', `/events/webhooks/${one.id}/test`, {})
export const change = (one: Webhook, changes: object): Promise<unknown> => call('PATCH', '/events/webhooks/' + one.id, changes)
export const turn = (webhooks: Webhook[], on: boolean): Promise<boolean> =>
  each(webhooks, WORDS, on ? 'switched on' : 'switched off', (one) => change(one, { enabled: on }))

/** Gives whether they are gone. */
export async function remove(webhooks: Webhook[]): Promise<boolean> {
  const what = webhooks.length === 1 ? `webhook ${webhooks[0]!.name}` : `${webhooks.length} webhooks`
  const lost = 'Nothing more is sent, and the list of what was sent is deleted.'
  if (!(await confirm(`Delete ${what}?`, lost, 'Delete'))) return false
  return each(webhooks, WORDS, 'deleted', ({ id }) => call('DELETE', '/events/webhooks/' + id))
}
