// What a cell has shown. All of it comes from the sandbox: texts are shown as text, pictures as pictures.
import { useState } from 'preact/hooks'
import { save } from '../parts/browser'
import { plain } from '../plain'
import { Chart, isDrawable } from './chart'
import type { Output, Result } from './run'

const MOST_ROWS = 500
const MOST_COLUMNS = 100
const MOST_TEXT = 200_000

export function Shown({ output, running }: { output: Output; running: boolean }) {
  const { streams, results, error } = output
  if (!streams.length && !results.length && !error) return running ? null : <div class="shown dim">No output.</div>
  return (
    <div class="shown">
      {streams.length > 0 && (
        <pre tabIndex={0} aria-label="Output">
          {streams.map(({ name, text }, at) => (
            <span key={at} class={name}>
              {plain(text)}
            </span>
          ))}
        </pre>
      )}
      {results.map((result, at) => (
        <One key={at} result={result} />
      ))}
      {error && (
        <pre class="error" role="alert">
          {error}
        </pre>
      )}
    </div>
  )
}

/** One result: the richest view first, the others to choose. */
function One({ result }: { result: Result }) {
  const views = viewsOf(result)
  const [chosen, choose] = useState('')
  const view = views.find(({ name }) => name === chosen) ?? views[0]
  if (!view) return null
  return (
    <div>
      {view.draw()}
      {views.length > 1 && (
        <div class="views">
          {views.map(({ name }) => (
            <button key={name} type="button" class="quiet" aria-pressed={name === view.name} onClick={() => choose(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

const string = (value: unknown): value is string => typeof value === 'string' && value !== ''
const base64 = (value: unknown): value is string => string(value) && /^[A-Za-z0-9+/=\s]+$/.test(value)

function viewsOf(result: Result) {
  const views: { name: string; draw: () => preact.JSX.Element }[] = []
  const add = (name: string, there: unknown, draw: () => preact.JSX.Element) => there && views.push({ name, draw })
  const { chart, data, png, jpeg, svg, pdf, json } = result
  add('Chart', chart && isDrawable(chart), () => <Chart chart={chart} />)
  add('Table', isTable(data), () => <Table data={data as Record<string, unknown[]>} />)
  const picture = base64(png) ? 'data:image/png;base64,' + png : base64(jpeg) ? 'data:image/jpeg;base64,' + jpeg : undefined
  add('Picture', picture, () => <img alt="What the cell has drawn" src={picture} />)
  // A browser runs no script of an SVG that is shown as a picture, and fetches nothing for it.
  add('SVG', string(svg), () => <img alt="What the cell has drawn" src={'data:image/svg+xml,' + encodeURIComponent(svg as string)} />)
  add('PDF', base64(pdf), () => (
    <button type="button" onClick={() => save(new Blob([Uint8Array.from(atob(pdf as string), (c) => c.charCodeAt(0))], { type: 'application/pdf' }), 'result.pdf')}>
      Download the PDF
    </button>
  ))
  add('JSON', json !== undefined && json !== null, () => <pre tabIndex={0}>{plain(JSON.stringify(json, null, 2)).slice(0, MOST_TEXT)}</pre>)
  for (const [name, value] of [
    ['Text', result.text],
    ['Markdown', result.markdown],
    ['LaTeX', result.latex],
    ['HTML source', result.html],
    ['JavaScript', result.javascript],
  ] as const) {
    add(name, string(value), () => <pre tabIndex={0}>{plain(String(value)).slice(0, MOST_TEXT)}</pre>)
  }
  return views
}

function isTable(data: unknown): boolean {
  return (
    typeof data === 'object' && data !== null && !Array.isArray(data) && Object.keys(data).length > 0 && Object.values(data).every(Array.isArray)
  )
}

function Table({ data }: { data: Record<string, unknown[]> }) {
  const columns = Object.keys(data).slice(0, MOST_COLUMNS)
  const length = Math.max(...columns.map((name) => data[name]!.length))
  const numeric = columns.map((name) => data[name]!.every((value) => value === null || typeof value === 'number'))
  return (
    <div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table">
        <table>
          <thead>
            <tr>
              {columns.map((name, at) => (
                <th key={name} class={numeric[at] ? 'right' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: Math.min(MOST_ROWS, length) }, (_, row) => (
              <tr key={row}>
                {columns.map((name, at) => (
                  <td key={name} class={numeric[at] ? 'right' : ''}>
                    {cellText(data[name]![row])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {length > MOST_ROWS && (
        <p class="dim">
          The first {MOST_ROWS} of {length} rows.
        </p>
      )}
    </div>
  )
}

const cellText = (value: unknown): string =>
  plain(value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, 500)
