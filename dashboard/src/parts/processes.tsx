import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, message, type Envd } from '../api'
import { plain } from '../plain'
import { attempt, Empty, Loaded, useLoad } from '../ui'
import { seen, whileSeen } from '../visible'
import type { PartProps } from './part'

export interface Process {
  pid: number
  tag?: string
  config: { cmd: string; args?: string[]; envs?: Record<string, string>; cwd?: string }
}

interface Event {
  event?: { start?: { pid: number }; data?: { pty?: string; stdout?: string; stderr?: string }; end?: { status?: string; exitCode?: number } }
}

const MOST_SHOWN = 200_000
const AGAIN = 1500

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
  return (
    <div>
      <form class="strip" onSubmit={start}>
        <input class="mono grow" name="command" aria-label="Command" placeholder="Run a command" spellcheck={false} autocomplete="off" />
        <button>Run</button>
      </form>
      <Loaded of={listed}>
        {({ processes = [] }) =>
          processes.length === 0 ? (
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
          )
        }
      </Loaded>
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
    const follow = async (from: string, here: AbortSignal): Promise<void> => {
      const header = { 'Cay-Output-From': from }
      for await (const { event } of envd.stream<Event>('process.Process/Connect', { process: { pid } }, here, header)) {
        // After a break, what the process wrote before comes again.
        if (event?.start) text.value = ''
        const data = event?.data?.stdout ?? event?.data?.stderr ?? event?.data?.pty
        if (data) add(plain(decoder.decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)), { stream: true })))
        if (event?.end) {
          add(`\n[${event.end.status ?? 'ended'}]`)
          return
        }
      }
    }
    const run = async (): Promise<void> => {
      // A process has either pipes or a terminal.
      let from = 'stdout=0,stderr=0'
      while (!end.signal.aborted) {
        await seen(end.signal)
        const here = whileSeen(end.signal)
        try {
          return await follow(from, here)
        } catch (e) {
          if (end.signal.aborted) return
          if (here.aborted) continue
          const known = e instanceof ApiError && !/cut|reached|50[234]/.test(e.message)
          if (/there is no byte/.test(message(e)) && from !== 'pty=0') from = 'pty=0'
          else if (known) {
            add(`\n[${message(e)}]`)
            return
          } else await new Promise((resolve) => setTimeout(resolve, AGAIN))
        }
      }
    }
    void run()
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
