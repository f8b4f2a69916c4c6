// Charts by their kind.
import type { VNode } from 'preact'
import { color, Frame, HEIGHT, Legend, room } from './frame'
import { axis, extent, linear, round, scale, words } from './scales'
import { list, MOST_POINTS, number, object, text, type Json } from './values'

export function points(chart: Json, width: number, joined: boolean): VNode | null {
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

export function bars(chart: Json, width: number): VNode | null {
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

export function boxes(chart: Json, width: number): VNode | null {
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

export function pie(chart: Json, width: number): VNode | null {
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
