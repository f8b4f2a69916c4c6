// Runs cells: the shortest ones in every language, the first ones of new sandboxes, and large ones.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { createRequire } from 'node:module'
import { pause, tell, timed, until } from './client.mjs'

const { Sandbox } = createRequire(process.env.CAY_CLIENT + '/package.json')('@e2b/code-interpreter')
const [what, count] = [process.argv[2], Number(process.argv[3])]
const ADD = { python: '1+1', javascript: '1+1', typescript: '1+1', bash: 'echo 2', r: '1+1', java: '1+1' }

async function times(n, work) {
  const found = []
  for (let i = 0; i < n; i++) found.push(await timed(work))
  return found
}

async function run(box, code, options) {
  const done = await box.runCode(code, { timeoutMs: 120_000, ...options })
  if (done.error) throw new Error(`${code}: ${done.error.value}`)
  return done
}

/** The same expression in an interpreter of this machine, line by line. */
async function onHost(n) {
  const loop = spawn('python3', ['-uc', 'import sys\nfor line in sys.stdin: print(eval(line))'])
  const answers = createInterface({ input: loop.stdout })[Symbol.asyncIterator]()
  const found = await times(n, async () => {
    loop.stdin.write('1+1\n')
    await answers.next()
  })
  loop.kill()
  return found
}

async function cells() {
  const box = await Sandbox.create({ timeoutMs: 900_000 })
  for (const [language, code] of Object.entries(ADD)) {
    await times(count, () => run(box, code, { language }))
    tell({ language, times: await times(count, () => run(box, code, { language })), host: await onHost(count) })
  }
  tell({ ...(await contexts(box)), ...(await cold(box)), ...(await memory()) })
  let bytes = 0
  const printed = await timed(() => run(box, 'for _ in range(10_000): print("x" * 999)', {
    onStdout: (message) => (bytes += message.line.length),
  }))
  const plot = await times(5, () => run(box, 'import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()'))
  const many = []
  for (let i = 0; i < 10; i++) many.push(await box.createCodeContext({ language: 'bash' }))
  const parallel = await timed(() => Promise.all(many.map((context) => run(box, 'for i in $(seq 50000); do :; done', { context }))))
  await box.kill()
  tell({ printed, bytes, plot, parallel })
}

/** With time to start the next one in advance, and without. */
async function contexts(box) {
  const [waiting, atOnce] = [[], []]
  for (const [into, rest] of [[waiting, 4000], [waiting, 4000], [waiting, 4000], [atOnce, 0], [atOnce, 0]]) {
    await pause(rest)
    into.push(await timed(async () => run(box, '1+1', { context: await box.createCodeContext({ language: 'python' }) })))
  }
  // The first of those found the one that was started behind the last of the others.
  return { context: waiting, coldContext: atOnce.slice(1) }
}

/** The first cell of a runner that starts from nothing. */
async function cold(box) {
  const [python, javascript] = ['python', 'javascript'].map((wanted) => async () => {
    const context = (await box.listCodeContexts()).find(({ language }) => language === wanted)
    await box.restartCodeContext(context)
    await run(box, '1+1', { context })
  })
  return { coldPython: await times(3, python), coldJavascript: await times(3, javascript) }
}

/** What the runners of a sandbox that nobody used yet take, in megabytes. */
async function memory() {
  const box = await Sandbox.create({ timeoutMs: 60_000 })
  await run(box, '1+1')
  const sum = (field) => `cat /proc/[0-9]*/smaps_rollup | awk '/^${field}/ { sum += $2 } END { print sum / 1024 }'`
  const { stdout } = await box.commands.run(`${sum('Private_')}; ${sum('Pss:')}`, { user: 'root' })
  await box.kill()
  const [own, proportional] = stdout.trim().split('\n').map(Number)
  return { ownMemory: own, proportionalMemory: proportional }
}

/** New sandboxes; with spares there is a moment between them. */
async function first() {
  const rest = Number(process.argv[4])
  for (const [language, code] of [['python', '1+1'], ['javascript', '1+1']]) {
    const [whole, cell] = [[], []]
    for (let i = 0; i < count; i++) {
      if (rest > 0) await pause(rest)
      const began = performance.now()
      const box = await Sandbox.create({ timeoutMs: 120_000 })
      cell.push(await timed(() => run(box, code, { language })))
      whole.push(performance.now() - began)
      await box.kill()
    }
    tell({ language, whole, cell })
  }
}

// The template is warmed behind the first sandboxes.
let quick = 0
await until('a warm template', async () => {
  const took = await timed(async () => {
    const box = await Sandbox.create({ timeoutMs: 60_000 }).catch(() => undefined)
    if (box) await run(box, '1+1').finally(() => box.kill())
    else await pause(3000)
  })
  quick = took < 2000 ? quick + 1 : 0
  return quick > 2
}, 300_000)
await (what === 'cells' ? cells() : first())
