import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from './cases.mjs'
import { atLeast, e2b, until } from './client.mjs'
import { knownSandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await knownSandbox()
})

const type = (terminal, text) => box.pty.sendInput(terminal.pid, new TextEncoder().encode(text))

/** A terminal, and all it has shown. */
async function open(options = {}) {
  const screen = { text: '', bytes: 0 }
  const onData = (data) => {
    screen.bytes += data.length
    screen.text = (screen.text + Buffer.from(data).toString()).slice(-100_000)
  }
  const terminal = await box.pty.create({ cols: 100, rows: 30, onData, ...options })
  return { terminal, screen, onData }
}

test('pty.create gives a terminal', { covers: ['Pty.create', 'Pty.sendInput', 'Pty.resize'] }, async () => {
  const { terminal, screen } = await open()
  await type(terminal, 'stty size\n')
  await until('the size', () => screen.text.includes('30 100'))
  await box.pty.resize(terminal.pid, { cols: 77, rows: 22 })
  await type(terminal, 'stty size\n')
  await until('the new size', () => screen.text.includes('22 77'))
  await type(terminal, 'exit\n')
  assert.equal((await terminal.wait()).exitCode, 0)
})

test('a terminal has colours, a language, and what it was asked for', async () => {
  const { terminal, screen } = await open({ user: 'root', cwd: '/tmp', envs: { MINE: 'yes' } })
  await type(terminal, 'echo "<$TERM|$LANG|$MINE|$(whoami)|$PWD|$(tput colors)>"; exit 5\n')
  await assert.rejects(terminal.wait(), (error) => error instanceof e2b.CommandExitError && error.exitCode === 5)
  const language = atLeast(2, 30) ? 'C\\.UTF-8' : '.*'
  assert.match(screen.text, new RegExp(`<xterm-256color\\|${language}\\|yes\\|root\\|/tmp\\|256>`))
})

test('Ctrl-C interrupts the program, Ctrl-D ends the shell', async () => {
  const { terminal, screen } = await open()
  // The program itself says that it has begun: it has the terminal then, and not only the shell.
  await type(terminal, "bash -c 'echo be$((1))gin; exec sleep 300'\n")
  await until('the program', () => screen.text.includes('be1gin'))
  await type(terminal, '\x03')
  // What is typed while the shell is not at its prompt can be lost, as in every terminal.
  await until('the prompt', () => /\^C[^]*\$ $/.test(screen.text))
  await type(terminal, 'echo status=$?\n')
  await until('its end', () => /status=130[^]*\$ $/.test(screen.text))
  // Bash leaves with the status of the last command.
  await type(terminal, '\x04')
  assert.equal((await terminal.wait()).exitCode, 0)
})

test('a full-screen program hears of a new size', async () => {
  const { terminal, screen } = await open()
  await box.files.write('screen.py', `
import curses, sys
def main(window):
    # A signal that comes just before curses begins to wait would be heard at the next key only.
    window.timeout(200)
    while True:
        window.erase()
        window.addstr(0, 0, 'size %d x %d ' % window.getmaxyx())
        window.refresh()
        if window.getch() == ord('q'): return
curses.wrapper(main)
`)
  await type(terminal, 'python3 screen.py; exit\n')
  await until('the screen', () => screen.text.includes('30 x 100'))
  await box.pty.resize(terminal.pid, { cols: 123, rows: 41 })
  await until('the new size', () => screen.text.includes('41 x 123'))
  await type(terminal, 'q')
  assert.equal((await terminal.wait()).exitCode, 0)
})

test('ten megabytes come through a terminal whole', async () => {
  const { terminal, screen } = await open()
  await type(terminal, 'stty -onlcr; PS1=; clear\n')
  await type(terminal, 'head -c 10000000 /dev/zero | tr "\\0" x; echo; echo e$((1))nd; exit\n')
  await terminal.wait()
  assert.ok(screen.bytes > 10_000_000 && screen.bytes < 10_010_000, `${screen.bytes} bytes`)
  assert.match(screen.text, /x\ne1nd\n/)
})

test('pty.connect takes a terminal up again', { covers: ['Pty.connect'] }, async () => {
  const { terminal, screen, onData } = await open()
  await type(terminal, 'A=kept\n')
  await until('the echo', () => screen.text.includes('A=kept'))
  await terminal.disconnect()
  const again = await box.pty.connect(terminal.pid, { onData })
  assert.equal(again.pid, terminal.pid)
  await type(again, 'echo "still $A"; exit\n')
  assert.equal((await again.wait()).exitCode, 0)
  assert.match(screen.text, /still kept/)
})

test('pty.kill ends a terminal once', { covers: ['Pty.kill'] }, async () => {
  const { terminal } = await open()
  const other = await open()
  assert.ok((await box.commands.list()).some((p) => p.pid === terminal.pid && p.args.includes('-i')))
  assert.equal(await box.pty.kill(terminal.pid), true)
  await assert.rejects(terminal.wait(), (error) => error instanceof e2b.CommandExitError && error.error === 'signal: killed')
  assert.equal(await box.pty.kill(terminal.pid), false)
  assert.equal(await other.terminal.kill(), true)
  await assert.rejects(other.terminal.wait(), e2b.CommandExitError)
})

test('a terminal that is not there is not found, and a command is none', async () => {
  const input = new TextEncoder().encode('x')
  await assert.rejects(box.pty.sendInput(999_999, input), e2b.NotFoundError)
  await assert.rejects(box.pty.resize(999_999, { cols: 80, rows: 24 }), e2b.NotFoundError)
  assert.equal(await box.pty.kill(999_999), false)
  if (box.pty.connect) await assert.rejects(box.pty.connect(999_999), e2b.NotFoundError)
  const command = await box.commands.run('sleep 300', { background: true })
  await assert.rejects(box.pty.sendInput(command.pid, input), e2b.SandboxError)
  await assert.rejects(box.pty.resize(command.pid, { cols: 80, rows: 24 }), e2b.SandboxError)
  await command.kill()
})
