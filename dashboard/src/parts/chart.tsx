import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

interface Line {
  name: string
  values: number[]
  color: string
}

interface Props {
  title: string
  times: number[]
  lines: Line[]
  format: (value: number) => string
  /** The scale reaches at least this far. */
  least?: number
}

const HEIGHT = 170

export default function Chart({ title, times, lines, format, least = 1 }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const data = () => [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData
  useEffect(() => {
    const element = box.current!
    const draw = () => {
      plot.current?.destroy()
      // A probe has colours that a canvas understands, of the scheme in force.
      const axis = { stroke: resolved('--dim'), grid: { stroke: resolved('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' }
      plot.current = new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          cursor: { y: false },
          legend: { show: lines.length > 1 },
          scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.15, least)] } },
          axes: [{ ...axis, size: 26, values: (_, ticks) => ticks.map((at) => hour(at, ticks)) }, { ...axis, size: 62, values: (_, ticks) => ticks.map(format) }],
          series: [
            { value: (_: uPlot, at: number | null) => (at === null ? '' : hour(at, [0, 1])) },
            ...lines.map(({ name, color: of }) => ({
              label: name,
              stroke: resolved(of),
              width: 1.6,
              fill: lines.length === 1 ? resolved(of) + '22' : '',
              points: { show: times.length < 3 },
              value: (_: uPlot, value: number | null) => (value === null ? '' : format(value)),
            })),
          ],
        },
        data(),
        element,
      )
    }
    draw()
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    watch.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      watch.disconnect()
      scheme.removeEventListener('change', draw)
      plot.current?.destroy()
    }
  }, [])
  useEffect(() => plot.current?.setData(data()), [times.at(-1), times.length])
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={box} />
    </figure>
  )
}

/** A time on the axis; with seconds where the marks are close. */
function hour(at: number, ticks: number[]): string {
  const close = ticks.length > 1 && ticks[1]! - ticks[0]! < 60
  return new Date(at * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(close ? { second: '2-digit' } : {}) })
}

/** The value of a custom property as a colour of the scheme in force, like `#0f766e`. */
function resolved(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const [r = 0, g = 0, b = 0] = getComputedStyle(probe).color.match(/[\d.]+/g)?.map(Number) ?? []
  probe.remove()
  return '#' + [r, g, b].map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')
}

