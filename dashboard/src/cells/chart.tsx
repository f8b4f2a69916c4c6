// Draws charts from what the interpreter found in a figure. All of it comes from the sandbox, so every number is checked.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { bars, boxes, pie, points } from './kinds'
import { list, object, text, type Json } from './values'

const MOST_CHARTS = 16

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
