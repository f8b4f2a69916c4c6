import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { message, type Envd } from '../api'
import { plain } from '../plain'
import { attempt, Empty, Failed, useLoad } from '../ui'
import type { PartProps } from './part'

export interface Process {
  pid: number
  tag?: string
  config: { cmd: string; args?: string[]; envs?: Record<string, string>; cwd?: string }
}

interface Event {
  event?: { data?: { pty?: string; stdout?: string; stderr?: string }; end?: { status?: string; exitCode?: number } }
}

const MOST_SHOWN = 200_000

export function Processes({ envd }: PartProps) {
  const listed = useLoad(() => envd.call<{ processes?: Process[] }>('process.Process/List', {}), [envd], 3000)
  const shown = useSignal(0)
  const signalTo = (pid: number, name: string) =>
    attempt(() => envd.call('process.Process/SendSignal', { process: { pid }, signal: name })).then(listed.reload)
  const start = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const command = String(new FormData(form).get('command')).trim()
    if (!command) return
    form.reset()
    const end = new AbortController()
    // The process goes on when nobody reads.
    void attempt(async () => {
      const process = { cmd: '/bin/bash', args: ['-l', '-c', command] }
      for await (const { event } of envd.stream<{ event?: { start?: { pid: number } } }>('process.Process/Start', { process }, end.signal)) {
        if (!event?.start) continue
        shown.value = event.start.pid
        listed.reload()
        return
      }
    })
  }
  if (listed.error) return <Failed text={listed.error} />
  if (!listed.value) return <p class="loading">Loading…</p>
  const processes = listed.value.processes ?? []
  return (
    <div>
      <form class="strip" onSubmit={start}>
        <input class="mono grow" name="command" aria-label="Command" placeholder="Run a command" spellcheck={false} autocomplete="off" />
        <button>Run</button>
      </form>
      {processes.length === 0 ? (
        <Empty>Nothing that clients started is running.</Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th class="right">Pid</th>
                <th>Command</th>
                <th class="wide">Tag</th>
                <th>
                  <span class="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {processes.map(({ pid, config, tag }) => (
                <tr key={pid} class={shown.value === pid ? 'chosen' : ''}>
                  <td class="right num">{pid}</td>
                  <td class="mono wrap">{[config.cmd, ...(config.args ?? [])].join(' ').slice(0, 400)}</td>
                  <td class="wide dim">{tag}</td>
                  <td class="acts">
                    <button type="button" onClick={() => (shown.value = pid)}>
                      Output
                    </button>
                    <button type="button" onClick={() => signalTo(pid, 'SIGNAL_SIGTERM')}>
                      Stop
                    </button>
                    <button type="button" class="danger" onClick={() => signalTo(pid, 'SIGNAL_SIGKILL')}>
                      Kill
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.value > 0 && <Output key={shown.value} envd={envd} pid={shown.value} />}
    </div>
  )
}

function Output({ envd, pid }: { envd: Envd; pid: number }) {
  const text = useSignal('')
  const box = useRef<HTMLPreElement>(null)
  useEffect(() => {
    const end = new AbortController()
    const decoder = new TextDecoder()
    const add = (more: string) => (text.value = (text.value + more).slice(-MOST_SHOWN))
    void (async () => {
      const follow = async (from: string) => {
        const header = { 'Cay-Output-From': from }
        for await (const { event } of envd.stream<Event>('process.Process/Connect', { process: { pid } }, end.signal, header)) {
          const data = event?.data?.stdout ?? event?.data?.stderr ?? event?.data?.pty
          if (data) add(plain(decoder.decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)), { stream: true })))
          if (event?.end) add(`\n[${event.end.status ?? 'ended'}]`)
        }
      }
      try {
        // A process has either pipes or a terminal.
        await follow('stdout=0,stderr=0').catch((e: unknown) => {
          if (!/there is no byte/.test(message(e))) throw e
          return follow('pty=0')
        })
      } catch (e) {
        if (!end.signal.aborted) add(`\n[${message(e)}]`)
      }
    })()
    return () => end.abort()
  }, [])
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight
  }, [text.value])
  return (
    <pre class="output" ref={box} tabIndex={0} aria-label={`Output of process ${pid}`}>
      {text.value || '[no output yet]'}
    </pre>
  )
}
