// Values that a sandbox sent. Nothing about them can be relied on.
export const MOST_POINTS = 20_000

export type Json = Record<string, unknown>

export const object = (value: unknown): Json => (value && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {})
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, MOST_POINTS) : [])
export const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value).slice(0, 200))

export class Undrawable extends Error {}

export function number(value: unknown): number {
  const found = typeof value === 'number' ? value : Number.NaN
  if (!Number.isFinite(found)) throw new Undrawable('not a number')
  return found
}
