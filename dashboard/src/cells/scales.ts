// Scales of charts: where a value lies, and the marks beside it.
import { number, text, Undrawable } from './values'

export interface Scale {
  at: (value: number) => number
  ticks: { at: number; label: string }[]
}

export const round = (value: number): string =>
  Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(6)))

/** A linear scale with round marks. */
export function linear(low: number, high: number, from: number, to: number, label: (value: number) => string = round): Scale {
  if (low === high) {
    low -= Math.abs(low) || 1
    high += Math.abs(high) || 1
  }
  const rough = (high - low) / Math.max(2, Math.floor(Math.abs(to - from) / 50))
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough) ?? rough
  const ticks = []
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6 && ticks.length < 50; value += step) {
    ticks.push({ at: from + ((value - low) / (high - low)) * (to - from), label: label(Number(value.toPrecision(12))) })
  }
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks }
}

export function logarithmic(low: number, high: number, from: number, to: number): Scale {
  if (low <= 0) throw new Undrawable('a logarithm of zero')
  const [a, b] = [Math.floor(Math.log10(low)), Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)]
  const at = (value: number) => from + ((Math.log10(value) - a) / (b - a)) * (to - from)
  const every = Math.ceil((b - a) / 8)
  const ticks = []
  for (let power = a; power <= b; power += every) ticks.push({ at: at(10 ** power), label: round(10 ** power) })
  return { at, ticks }
}

/** Words at even distances, as many of them as have room. */
export function words(names: string[], from: number, to: number, room: number): Scale {
  const wide = (to - from) / names.length
  const every = Math.ceil(room / Math.abs(wide))
  return {
    at: (index) => from + (index + 0.5) * wide,
    ticks: names.map((label, index) => ({ at: from + (index + 0.5) * wide, label })).filter((_, index) => index % every === 0),
  }
}

export const short = (label: string, most = 14): string => (label.length > most ? label.slice(0, most - 1) + '…' : label)

export function extent(values: number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return [low, high]
}

/** Values of one axis as numbers: dates count in milliseconds, words by their place. */
export function axis(values: unknown[], kind: unknown) {
  if (kind === 'datetime' || values.every((value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)))) {
    const dates = values.map((value) => number(Date.parse(String(value))))
    return { values: dates, kind: 'datetime', names: [] as string[] }
  }
  if (values.some((value) => typeof value === 'string')) {
    const names = [...new Set(values.map(text))]
    const places = new Map(names.map((name, at) => [name, at]))
    return { values: values.map((value) => places.get(text(value))!), kind: 'words', names }
  }
  return { values: values.map(number), kind: kind === 'log' ? 'log' : 'linear', names: [] as string[] }
}

export function scale(found: ReturnType<typeof axis>, from: number, to: number): Scale {
  if (found.kind === 'words') return words(found.names, from, to, from < to ? 70 : 18)
  const [low, high] = extent(found.values)
  if (found.kind === 'log') return logarithmic(low, high, from, to)
  const space = (high - low) * 0.05
  if (found.kind !== 'datetime') return linear(low - space, high + space, from, to)
  const days = high - low > 2 * 86_400_000
  const date = (value: number) =>
    days ? new Date(value).toISOString().slice(0, 10) : new Date(value).toISOString().slice(11, high - low > 600_000 ? 16 : 19)
  const many = Math.max(2, Math.floor((to - from) / 100))
  const step = (high - low) / many || 1
  const ticks = Array.from({ length: many + 1 }, (_, at) => low + at * step)
  const line = linear(low - space, high + space, from, to)
  return { at: line.at, ticks: ticks.map((value) => ({ at: line.at(value), label: date(value) })) }
}
