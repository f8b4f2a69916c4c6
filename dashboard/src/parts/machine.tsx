// The machine that Cay runs on, for the operator: what `GET /metrics` says.
import { useRef } from 'preact/hooks'
import { team, text } from '../api'
import { Meter, size, span, useLoad } from '../ui'

/** Values by name and labels, as in the text for Prometheus. */
class Numbers {
  private readonly rows: { name: string; labels: string; value: number }[]

  constructor(page: string) {
    this.rows = page.split('\n').flatMap((line) => {
      const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
      return found ? [{ name: found[1]!, labels: found[2] ?? '', value: Number(found[3]) }] : []
    })
  }

  sum(name: string, labels = /(?:)/): number {
    return this.rows.filter((row) => row.name === name && labels.test(row.labels)).reduce((all, { value }) => all + value, 0)
  }

  label(name: string, key: string): string {
    const labels = this.rows.find((row) => row.name === name)?.labels ?? ''
    return new RegExp(`(?:^|,)${key}="([^"]*)"`).exec(labels)?.[1] ?? ''
  }
}

const EVERY = 10_000
const FAILED = /status="5\d\d"/

export function Machine() {
  const before = useRef<{ at: number; failed: number } | undefined>(undefined)
  const loaded = useLoad(
    async (end) => {
      const numbers = new Numbers(await text('/metrics', end))
      const failed = numbers.sum('cay_api_requests_total', FAILED)
      const last = before.current
      before.current = { at: Date.now(), failed }
      return { numbers, recent: last ? ((failed - last.failed) / (Date.now() - last.at)) * 60_000 : 0 }
    },
    [team.value?.id],
    EVERY,
  )
  // Only keys of the operator's team may see it.
  if (!loaded.value) return null
  const { numbers, recent } = loaded.value
  const memory = numbers.sum('cay_host_memory_bytes')
  const memoryUsed = memory - numbers.sum('cay_host_memory_available_bytes')
  const disk = numbers.sum('cay_pool_size_bytes')
  const diskUsed = disk - numbers.sum('cay_pool_free_bytes')
  const slots = numbers.sum('cay_slots')
  const taken = numbers.sum('cay_slots_taken')
  const cpu = numbers.sum('cay_host_cpu_used')
  const creates = numbers.sum('cay_creates_total')
  const badCreates = numbers.sum('cay_creates_total', /result="failed"/)
  const began = numbers.sum('process_start_time_seconds') * 1000
  return (
    <div class="machine">
      <h2>This machine</h2>
      <dl class="capacity">
        <div>
          <dt>Processors</dt>
          <dd>
            <Meter part={cpu} label={`${Math.round(cpu * 100)} % of ${numbers.sum('cay_host_cpus')}`} />
          </dd>
        </div>
        <div>
          <dt>Memory</dt>
          <dd>
            <Meter part={memoryUsed / memory} label={`${size(memoryUsed)} of ${size(memory)}`} />
          </dd>
        </div>
        <div>
          <dt>Disk of sandboxes</dt>
          <dd>
            <Meter part={diskUsed / disk} label={`${size(diskUsed)} of ${size(disk)}`} />
          </dd>
        </div>
        <div>
          <dt>Places for sandboxes</dt>
          <dd>
            <Meter part={taken / slots} label={`${taken} of ${slots}, ${numbers.sum('cay_spare_sandboxes')} ready`} />
          </dd>
        </div>
      </dl>
      <dl class="facts">
        <div>
          <dt>Version</dt>
          <dd>{numbers.label('cay_info', 'version')}</dd>
        </div>
        <div>
          <dt>Java</dt>
          <dd>{numbers.label('jvm_runtime_info', 'version')}</dd>
        </div>
        <div>
          <dt>Runs for</dt>
          <dd>{span(Date.now() - began)}</dd>
        </div>
        <div>
          <dt>Creates since then</dt>
          <dd>
            {creates}
            {badCreates > 0 && `, ${badCreates} failed`}
          </dd>
        </div>
        <div>
          <dt>Requests that failed (5xx)</dt>
          <dd class={recent > 0 ? 'soon' : ''}>
            {numbers.sum('cay_api_requests_total', FAILED)}
            {recent > 0 && `, ${recent.toFixed(1)} a minute now`}
          </dd>
        </div>
      </dl>
    </div>
  )
}
