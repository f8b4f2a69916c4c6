import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef } from 'preact/hooks'
import type { Envd } from '../api'
import { message } from '../api'
import { seen, whileSeen } from '../visible'

interface Event {
  event?: {
    start?: { pid: number }
    data?: { pty?: string; stdout?: string; stderr?: string }
    end?: { exitCode?: number; status?: string; error?: string }
  }
}

const RETRY = [300, 1000, 2000, 5000]
const KEYS: [string, string][] = [
  ['Esc', '\x1b'],
  ['Tab', '\t'],
  ['Ctrl C', '\x03'],
  ['Ctrl D', '\x04'],
  ['Ctrl Z', '\x1a'],
  ['←', '\x1b[D'],
  ['↑', '\x1b[A'],
  ['↓', '\x1b[B'],
  ['→', '\x1b[C'],
]

const decode = (text: string): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))

function encode(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

interface Props {
  envd: Envd
  /** The process; 0 to start one. */
  pid: number
  tag: string
  onStart: (pid: number) => void
}

/** One terminal. When the connection is cut, the process goes on, and the terminal comes back to it. */
export default function TerminalView({ envd, pid: given, tag, onStart }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const press = useRef<(text: string) => void>(() => undefined)
  useEffect(() => {
    const end = new AbortController()
    const terminal = new Terminal({
      fontFamily: color('--mono'),
      fontSize: 13,
      lineHeight: 1.2,
      cursorBlink: true,
      scrollback: 10_000,
      screenReaderMode: false,
      // What a sandbox prints is never a link that a click opens.
      linkHandler: null,
      theme: { background: '#10161a', foreground: '#dbe4e6', cursor: '#5eead4', selectionBackground: '#2f5d5a' },
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(box.current!)
    fit.fit()
    terminal.focus()
    let pid = given
    let over = false

    // Keys go one request after the other, so that they arrive in their order.
    let waiting = ''
    let sending = false
    const send = async () => {
      if (sending || !pid) return
      sending = true
      while (waiting && !end.signal.aborted) {
        const text = waiting
        waiting = ''
        try {
          await envd.call('process.Process/SendInput', { process: { pid }, input: { pty: encode(text) } })
        } catch {
          if (over) break
          waiting = text + waiting
          await new Promise((resolve) => setTimeout(resolve, 1000))
        }
      }
      sending = false
    }
    const type = (text: string) => {
      if (over || waiting.length > 100_000) return
      waiting += text
      void send()
    }
    terminal.onData(type)
    press.current = (text) => {
      type(text)
      terminal.focus()
    }
    const resize = () => {
      fit.fit()
      if (pid && !over) {
        const size = { cols: terminal.cols, rows: terminal.rows }
        envd.call('process.Process/Update', { process: { pid }, pty: { size } }).catch(() => undefined)
      }
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const watch = new ResizeObserver(() => {
      clearTimeout(timer)
      timer = setTimeout(resize, 120)
    })
    watch.observe(box.current!)

    const connect = (signal: AbortSignal) => {
      if (pid) return envd.stream<Event>('process.Process/Connect', { process: { pid } }, signal, { 'Cay-Output-From': 'pty=0' })
      const process = { cmd: '/bin/bash', args: ['-i', '-l'], envs: { TERM: 'xterm-256color', LANG: 'C.UTF-8' } }
      const pty = { size: { cols: terminal.cols, rows: terminal.rows } }
      return envd.stream<Event>('process.Process/Start', { process, pty, tag: `${tag}-${Date.now()}` }, signal)
    }
    const run = async () => {
      for (let tries = 0; !end.signal.aborted && !over; tries++) {
        await seen(end.signal)
        const here = whileSeen(end.signal)
        try {
          for await (const { event } of connect(here)) {
            if (event?.start) {
              // What the process wrote before comes again.
              if (pid) terminal.reset()
              tries = 0
              const first = !pid
              pid = event.start.pid
              if (first) onStart(pid)
              else resize()
              void send()
            } else if (event?.data?.pty) {
              terminal.write(decode(event.data.pty))
            } else if (event?.end) {
              over = true
              terminal.write(`\r\n\x1b[2m${event.end.status ?? 'ended'}\x1b[0m\r\n`)
            }
          }
          if (!over) throw new Error('the connection was cut')
        } catch (e) {
          if (end.signal.aborted || over) return
          if (here.aborted) {
            tries = -1
            continue
          }
          if (/not found|no process|not_found/i.test(message(e))) {
            over = true
            terminal.write(`\r\n\x1b[2mthe process has ended\x1b[0m\r\n`)
            return
          }
          if (tries === 0) terminal.write(`\r\n\x1b[2m${message(e).replace(/[^\x20-\x7e]/g, '?')}; reconnecting…\x1b[0m\r\n`)
          await new Promise((resolve) => setTimeout(resolve, RETRY[Math.min(tries, RETRY.length - 1)]))
        }
      }
    }
    void run()
    return () => {
      end.abort()
      watch.disconnect()
      clearTimeout(timer)
      terminal.dispose()
    }
  }, [])
  return (
    <>
      <div class="tty" ref={box} />
      <div class="tty-keys" role="group" aria-label="Keys that a phone does not have">
        {KEYS.map(([name, text]) => (
          <button key={name} type="button" onClick={() => press.current(text)}>
            {name}
          </button>
        ))}
      </div>
    </>
  )
}
