// Draws charts from what the interpreter found in a figure. All of it comes from the sandbox, so every number is checked.
import type { ComponentChild, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

const HEIGHT = 300
const MOST_POINTS = 20_000
const MOST_CHARTS = 16
const COLORS = ['--chart-1', '--chart-2', '--chart-4', '--chart-5', '--chart-6', '--chart-3']

type Json = Record<string, unknown>

const object = (value: unknown): Json => (value && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, MOST_POINTS) : [])
const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value).slice(0, 200))
const color = (at: number): string => `var(${COLORS[at % COLORS.length]})`

class Undrawable extends Error {}

function number(value: unknown): number {
  const found = typeof value === 'number' ? value : Number.NaN
  if (!Number.isFinite(found)) throw new Undrawable('not a number')
  return found
}

/** Whether there is something to draw; what cannot be drawn is shown as the picture that came with it. */
export function isDrawable(chart: unknown): boolean {
  try {
    return draw(object(chart), 600) !== null
  } catch {
    return false
  }
}

export function Chart({ chart }: { chart: unknown }) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(600)
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(Math.max(280, box.current?.clientWidth ?? 600)))
    watch.observe(box.current!)
    return () => watch.disconnect()
  }, [])
  return (
    <div ref={box} class="drawing">
      {draw(object(chart), width)}
    </div>
  )
}

function draw(chart: Json, width: number): VNode | null {
  switch (chart['type']) {
    case 'line':
    case 'scatter':
      return points(chart, width, chart['type'] === 'line')
    case 'bar':
      return bars(chart, width)
    case 'box_and_whisker':
      return boxes(chart, width)
    case 'pie':
      return pie(chart, width)
    case 'superchart': {
      const drawn = list(chart['elements'])
        .slice(0, MOST_CHARTS)
        .map((one) => object(one)['type'] !== 'superchart' && draw(object(one), Math.max(280, width / 2 - 8)))
      if (!drawn.length || !drawn.every(Boolean)) return null
      return (
        <div>
          {text(chart['title']) && <p class="chart-title">{text(chart['title'])}</p>}
          <div class="several">{drawn}</div>
        </div>
      )
    }
    default:
      return null
  }
}

interface Scale {
  at: (value: number) => number
  ticks: { at: number; label: string }[]
}

const round = (value: number): string =>
  Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(6)))

/** A linear scale with round marks. */
function linear(low: number, high: number, from: number, to: number, label: (value: number) => string = round): Scale {
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

function logarithmic(low: number, high: number, from: number, to: number): Scale {
  if (low <= 0) throw new Undrawable('a logarithm of zero')
  const [a, b] = [Math.floor(Math.log10(low)), Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)]
  const at = (value: number) => from + ((Math.log10(value) - a) / (b - a)) * (to - from)
  const every = Math.ceil((b - a) / 8)
  const ticks = []
  for (let power = a; power <= b; power += every) ticks.push({ at: at(10 ** power), label: round(10 ** power) })
  return { at, ticks }
}

/** Words at even distances, as many of them as have room. */
function words(names: string[], from: number, to: number, room: number): Scale {
  const wide = (to - from) / names.length
  const every = Math.ceil(room / Math.abs(wide))
  return {
    at: (index) => from + (index + 0.5) * wide,
    ticks: names.map((label, index) => ({ at: from + (index + 0.5) * wide, label })).filter((_, index) => index % every === 0),
  }
}

const short = (label: string, most = 14): string => (label.length > most ? label.slice(0, most - 1) + '…' : label)

function extent(values: number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return [low, high]
}

interface Room {
  left: number
  right: number
  top: number
  bottom: number
}

function room(chart: Json, width: number, left = 54): Room {
  return { left: left + (text(chart['y_label']) ? 16 : 0), right: width - 14, top: 12, bottom: HEIGHT - (text(chart['x_label']) ? 42 : 26) }
}

function Frame({ chart, width, in: area, x, y, children, names = [] }: {
  chart: Json
  width: number
  in: Room
  x: Scale
  y: Scale
  children: ComponentChild
  names?: string[]
}) {
  const label = [text(chart['title']), text(chart['type'])].filter(Boolean).join(', ')
  const middle = (area.top + area.bottom) / 2
  return (
    <figure>
      {text(chart['title']) && <p class="chart-title">{text(chart['title'])}</p>}
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
        {y.ticks.map(({ at, label }) => (
          <g key={at}>
            <line class="grid" x1={area.left} x2={area.right} y1={at} y2={at} />
            <text x={area.left - 7} y={at + 4} text-anchor="end">
              {short(label, 10)}
            </text>
          </g>
        ))}
        {x.ticks.map(({ at, label }) => (
          <text key={at} x={at} y={area.bottom + 17} text-anchor="middle">
            {short(label)}
          </text>
        ))}
        <line class="axis" x1={area.left} x2={area.right} y1={area.bottom} y2={area.bottom} />
        {text(chart['x_label']) && (
          <text class="name" x={(area.left + area.right) / 2} y={HEIGHT - 6} text-anchor="middle">
            {short(text(chart['x_label']), 80)}
          </text>
        )}
        {text(chart['y_label']) && (
          <text class="name" x={12} y={middle} text-anchor="middle" transform={`rotate(-90 12 ${middle})`}>
            {short(text(chart['y_label']), 40)}
          </text>
        )}
        {children}
      </svg>
      <Legend names={names} />
    </figure>
  )
}

function Legend({ names }: { names: string[] }) {
  if (names.length < 2) return null
  return (
    <p class="legend">
      {names.slice(0, 24).map((name, at) => (
        <span key={at}>
          <i style={{ background: color(at) }} />
          {name}
        </span>
      ))}
    </p>
  )
}

/** Values of one axis as numbers: dates count in milliseconds, words by their place. */
function axis(values: unknown[], kind: unknown) {
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

function scale(found: ReturnType<typeof axis>, from: number, to: number): Scale {
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

function points(chart: Json, width: number, joined: boolean): VNode | null {
  const groups = list(chart['elements']).map((one) => ({
    name: text(object(one)['label']),
    points: list(object(one)['points']).map((point) => [list(point)[0], list(point)[1]] as const),
  }))
  const every = groups.flatMap(({ points }) => points)
  if (!every.length || every.length > MOST_POINTS) return null
  const area = room(chart, width)
  const xs = axis(every.map(([x]) => x), chart['x_scale'])
  const ys = axis(every.map(([, y]) => y), chart['y_scale'])
  const x = scale(xs, area.left, area.right)
  const y = scale(ys, area.bottom, area.top)
  let next = 0
  const drawn = groups.map(({ points }, at) => {
    const places = points.map(() => {
      const place = [x.at(xs.values[next]!), y.at(ys.values[next]!)] as const
      next++
      return place
    })
    if (joined) {
      return <polyline key={at} fill="none" stroke={color(at)} stroke-width="2" stroke-linejoin="round" points={places.map((place) => place.map((value) => value.toFixed(1)).join(',')).join(' ')} />
    }
    return places.map(([cx, cy], index) => <circle key={`${at} ${index}`} cx={cx} cy={cy} r="3.5" fill={color(at)} fill-opacity="0.75" />)
  })
  return (
    <Frame chart={chart} width={width} in={area} x={x} y={y} names={groups.map(({ name }) => name)}>
      {drawn}
    </Frame>
  )
}

function bars(chart: Json, width: number): VNode | null {
  const all = list(chart['elements']).map(object)
  const one = all.map((bar) => ({ label: text(bar['label']), group: text(bar['group']), value: number(bar['value']) }))
  if (!one.length || one.length > 500) return null
  const names = [...new Set(one.map(({ label }) => label))]
  const groups = [...new Set(one.map(({ group }) => group))]
  const area = room(chart, width)
  const [low, high] = extent([0, ...one.map(({ value }) => value)])
  const space = (high - low) * 0.06
  const x = words(names, area.left, area.right, 60)
  const y = linear(low < 0 ? low - space : 0, high > 0 ? high + space : 0, area.bottom, area.top)
  const place = (area.right - area.left) / names.length
  const wide = Math.min(72, (place * 0.72) / groups.length)
  return (
    <Frame chart={chart} width={width} in={area} x={x} y={y} names={groups}>
      {one.map(({ label, group, value }, at) => {
        const of = groups.indexOf(group)
        const left = x.at(names.indexOf(label)) + (of - groups.length / 2) * wide
        const [top, bottom] = [y.at(Math.max(0, value)), y.at(Math.min(0, value))]
        return (
          <rect key={at} x={left + 1} width={Math.max(1, wide - 2)} y={top} height={Math.max(0.5, bottom - top)} rx="2" fill={color(of)}>
            <title>{`${label}: ${round(value)}`}</title>
          </rect>
        )
      })}
    </Frame>
  )
}

function boxes(chart: Json, width: number): VNode | null {
  const all = list(chart['elements'])
    .map(object)
    .map((box) => ({
      label: text(box['label']),
      five: ['min', 'first_quartile', 'median', 'third_quartile', 'max'].map((name) => number(box[name])),
      outliers: list(box['outliers']).map(number),
    }))
  if (!all.length || all.length > 200) return null
  const area = room(chart, width)
  const [low, high] = extent(all.flatMap(({ five, outliers }) => [...five, ...outliers]))
  const space = (high - low) * 0.06
  const x = words(all.map(({ label }) => label), area.left, area.right, 60)
  const y = linear(low - space, high + space, area.bottom, area.top)
  const wide = Math.min(70, ((area.right - area.left) / all.length) * 0.5)
  return (
    <Frame chart={chart} width={width} in={area} x={x} y={y}>
      {all.map(({ five, outliers }, at) => {
        const middle = x.at(at)
        const [min, first, median, third, max] = five.map(y.at) as [number, number, number, number, number]
        return (
          <g key={at} stroke={color(0)} stroke-width="1.6">
            <line x1={middle} x2={middle} y1={min} y2={first} />
            <line x1={middle} x2={middle} y1={third} y2={max} />
            <line x1={middle - wide / 4} x2={middle + wide / 4} y1={min} y2={min} />
            <line x1={middle - wide / 4} x2={middle + wide / 4} y1={max} y2={max} />
            <rect x={middle - wide / 2} width={wide} y={third} height={Math.max(0, first - third)} fill={color(0)} fill-opacity="0.18" />
            <line x1={middle - wide / 2} x2={middle + wide / 2} y1={median} y2={median} stroke-width="2.6" />
            {outliers.map((value, index) => (
              <circle key={index} cx={middle} cy={y.at(value)} r="3" fill="none" />
            ))}
          </g>
        )
      })}
    </Frame>
  )
}

function pie(chart: Json, width: number): VNode | null {
  const all = list(chart['elements'])
    .map(object)
    .map((wedge) => ({ label: text(wedge['label']), angle: Math.abs(number(wedge['angle'])) }))
  const sum = all.reduce((before, { angle }) => before + angle, 0)
  if (!all.length || all.length > 100 || sum <= 0) return null
  const radius = HEIGHT / 2 - 16
  const on = (turn: number) => `${(radius * Math.sin(turn * 2 * Math.PI)).toFixed(2)} ${(-radius * Math.cos(turn * 2 * Math.PI)).toFixed(2)}`
  let from = 0
  return (
    <figure>
      {text(chart['title']) && <p class="chart-title">{text(chart['title'])}</p>}
      <svg width={width} height={HEIGHT} viewBox={`${-width / 2} ${-HEIGHT / 2} ${width} ${HEIGHT}`} role="img" aria-label={text(chart['title']) || 'pie'}>
        {all.map(({ label, angle }, at) => {
          const part = Math.min(0.99999, angle / sum)
          const path = `M0 0L${on(from)}A${radius} ${radius} 0 ${part > 0.5 ? 1 : 0} 1 ${on(from + part)}Z`
          from += part
          return (
            <path key={at} d={path} fill={color(at)} class="wedge">
              <title>{`${label}: ${(part * 100).toFixed(1)} %`}</title>
            </path>
          )
        })}
      </svg>
      <Legend names={all.map(({ label, angle }) => `${label} ${((angle / sum) * 100).toFixed(0)} %`)} />
    </figure>
  )
}
