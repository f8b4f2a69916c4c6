// Copies running sandboxes, saves one, and wakes it by a request. Answers once for each count of copies, then for the rest.
import { existsSync } from 'node:fs'
import { Sandbox, hold, order, tell, timed, until } from './client.mjs'

const [, , directory, megabytes, large, runs] = process.argv
const LIFE = 3_600_000
const times = async (count, work) => {
  const all = []
  for (let i = 0; i < count; i++) all.push(await work(i))
  return all
}

const box = await Sandbox.create({ timeoutMs: LIFE, lifecycle: { onTimeout: 'pause', autoResume: true } })
await hold(box, Number(megabytes))

// ---- forks ---------------------------------------------------------------------------------------------------------

async function fork(box, count) {
  let forks
  const made = await timed(async () => (forks = await box.fork({ count, timeoutMs: 600_000, requestTimeoutMs: 300_000 })))
  const failed = forks.filter((one) => one instanceof Error)
  const living = forks.filter((one) => !(one instanceof Error))
  let mute = 0
  const answered = await timed(() => Promise.all(living.map((one) => one.commands.run('echo hi').catch(() => mute++))))
  await Promise.all(living.map((one) => one.kill()))
  return { made, all: made + answered, failed: failed.length + mute, reason: failed[0]?.message ?? '' }
}

const forks = {}
for (const [count, repeats] of [[1, runs], [10, 3], [100, 1]]) {
  forks[count] = await times(repeats, () => fork(box, count))
  tell({ count, forks: forks[count] })
}

const other = await Sandbox.create({ timeoutMs: LIFE })
await hold(other, Number(large))
tell({ count: 10, forks: await times(3, () => fork(other, 10)) })
await other.kill()

// ---- snapshots -----------------------------------------------------------------------------------------------------

const taken = []
const snapshot = await times(runs, () => timed(async () => taken.push((await box.createSnapshot()).snapshotId)))
const fromSnapshot = await times(runs, async () => {
  let copy
  const took = await timed(async () => {
    copy = await Sandbox.create(taken[0], { timeoutMs: 60_000 })
    await copy.commands.run('echo hi')
  })
  await copy.kill()
  return took
})
for (const id of taken) await Sandbox.deleteSnapshot(id)
tell({ snapshot, fromSnapshot })

// ---- traffic that wakes --------------------------------------------------------------------------------------------

const server = await box.commands.run('exec python3 -m http.server 8000', { background: true, timeoutMs: 0 })
server.disconnect().catch(() => {})
const get = async () => {
  const answer = await fetch(process.env.E2B_SANDBOX_URL, {
    headers: { 'E2b-Sandbox-Id': box.sandboxId, 'E2b-Sandbox-Port': '8000' },
  })
  await answer.text()
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
}
await until('the server', () => get().then(() => true, () => false))
const awake = await times(20, () => timed(get))
const woken = await times(runs, async () => {
  await Sandbox.pause(box.sandboxId, { keepMemory: true })
  await until('the original to go', () => !existsSync(`${directory}/state/pool/sandboxes/${box.sandboxId}`), 120_000)
  return timed(get)
})
tell({ awake, woken })
await order()
