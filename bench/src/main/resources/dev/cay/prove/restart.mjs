// Sandboxes that leave no processor time to others, and clients that go on asking, through restarts of the daemon.
// Orders: `load`, then `up` after each restart, which is answered with the milliseconds until a new sandbox and until every
// old one had run a command, then `check`, answered with what is not as it was.
import { Sandbox, order, pause, tell, timed, until } from './client.mjs'

const [sandboxes, kind] = [Number(process.argv[2]), process.argv[3]]
const LIMIT = 170_000
const RETRY = 250
const HAMMERS = 10

const LOADS = {
  compute: 'while :; do :; done & while :; do :; done',
  // Programs one after the other, and children that nobody waits for.
  forks: 'while :; do /bin/true; done & while :; do /bin/true; done & while :; do (:) & (:) & done 2>/dev/null',
}

const works = (box) => box.commands.run('true', { timeoutMs: 60_000 }).then(() => true, () => false)

/** Those that begin first leave little time to the guests of the others. */
async function load(state) {
  const start = () => state.box.commands.run(LOADS[kind], { background: true, timeoutMs: 0 })
  const command = await until('a load', () => start().catch(() => null), LIMIT)
  command.disconnect().catch(() => {})
  state.pids.push(command.pid)
}

/** A client that has always something to ask, of the API or of a sandbox. */
async function hammer(n) {
  for (let i = n; ; i++) {
    try {
      if (i % 5) await all[i % all.length].box.commands.run('true', { timeoutMs: 60_000 })
      else await Sandbox.list().nextItems()
    } catch {
      await pause(RETRY)
    }
  }
}

/** A sandbox of its own for a new client. */
async function comes() {
  try {
    const box = await Sandbox.create({ timeoutMs: 60_000 })
    const answered = await works(box)
    await box.kill().catch(() => {})
    return answered
  } catch {
    return false
  }
}

async function changed({ box, pids }) {
  const there = (await box.commands.list({ requestTimeoutMs: LIMIT })).map((process) => process.pid)
  return pids.filter((pid) => !there.includes(pid)).map((pid) => `${box.sandboxId}: process ${pid} is gone`)
}

async function up() {
  const [fresh, old] = await Promise.all([
    timed(() => until('a new sandbox', comes, LIMIT)),
    timed(() => Promise.all(all.map(({ box }) => until('an answer', () => works(box), LIMIT)))),
  ])
  return { fresh, old }
}

const all = await Promise.all(
  Array.from({ length: sandboxes }, async () => ({ box: await Sandbox.create({ timeoutMs: 3_600_000 }), pids: [] })),
)
tell({ ready: true })
for (;;) {
  switch (await order()) {
    case 'load':
      await Promise.all(all.map(load))
      for (let n = 0; n < HAMMERS; n++) hammer(n)
      tell({ loaded: true })
      break
    case 'up':
      tell(await up())
      break
    case 'check':
      tell({ wrong: (await Promise.all(all.map(changed))).flat() })
      break
    default:
      process.exit(0)
  }
}
