// What surrounds a chart: its title, its axes, its legend.
import type { ComponentChild } from 'preact'
import { short, type Scale } from './scales'
import { text, type Json } from './values'

export const HEIGHT = 300
const COLORS = ['--chart-1', '--chart-2', '--chart-4', '--chart-5', '--chart-6', '--chart-3']

export const color = (at: number): string => `var(${COLORS[at % COLORS.length]})`

export interface Room {
  left: number
  right: number
  top: number
  bottom: number
}

export function room(chart: Json, width: number, left = 54): Room {
  return { left: left + (text(chart['y_label']) ? 16 : 0), right: width - 14, top: 12, bottom: HEIGHT - (text(chart['x_label']) ? 42 : 26) }
}

export function Frame({ chart, width, in: area, x, y, children, names = [] }: {
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

export function Legend({ names }: { names: string[] }) {
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
