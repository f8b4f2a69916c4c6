// What the gateway of a sandbox did: starts and failures of its servers, and calls of their tools without what was said.
import { useEffect, useRef } from 'preact/hooks'
import { get } from '../api'
import { plain } from '../plain'
import { clock, Failed, useLoad } from '../ui'

const LINES = 200

interface Line {
  timestamp: string
  fields: Record<string, string>
}

export function CallLog({ id }: { id: string }) {
  const lines = useLoad(
    async (end) => {
      const query = new URLSearchParams({ limit: String(LINES), search: 'MCP gateway' })
      const { logs } = await get<{ logs: Line[] }>(`/v2/sandboxes/${id}/logs?${query}`, end)
      return logs.filter(({ fields }) => fields['event_type'] === 'mcp').reverse()
    },
    [id],
    4000,
  )
  const box = useRef<HTMLDivElement>(null)
  const last = lines.value?.at(-1)?.timestamp
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight
  }, [last])
  return (
    <section aria-label="Log">
      <h2>Log</h2>
      {lines.error && <Failed text={lines.error} />}
      {lines.value?.length === 0 && <p class="empty">Nothing yet.</p>}
      {lines.value && lines.value.length > 0 && (
        <div class="log mono" ref={box} tabIndex={0} role="log" aria-label="Log of the gateway">
          {lines.value.map((line, at) => (
            <div key={at} class="line plain">
              <time dateTime={line.timestamp}>{clock(line.timestamp)}</time>
              <span class="text">{plain(line.fields['text'] ?? '')}</span>
            </div>
          ))}
        </div>
      )}
    </section>
  )
}
