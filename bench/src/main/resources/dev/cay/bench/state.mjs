// Pauses and resumes sandboxes that hold more and more memory. Answers one line per size.
//
// Arguments: the directory of the platform, how often, `frozen` or `disk`, the sizes in MiB. With `disk` each resume waits
// until the frozen original has given way; with `frozen` it comes right after the sandbox is saved.
import { existsSync, readFileSync } from 'node:fs'
import { Sandbox, hold, order, tell, timed, until } from './client.mjs'

const [, , directory, runs, from, ...sizes] = process.argv
const LIFE = 3_600_000

const isGone = (id) => !existsSync(`${directory}/state/pool/sandboxes/${id}`)
const firstProcess = (id) => JSON.parse(readFileSync(`${directory}/run/runc/${id}/state.json`)).init_process_pid

const headers = { 'X-API-Key': process.env.E2B_API_KEY }
const isSaved = async (id) => {
  const answer = await fetch(`${process.env.E2B_API_URL}/sandboxes/${id}`, { headers })
  return (await answer.json()).paused?.durability?.state === 'saved'
}

async function cycle(id, lookThrough, expected, times) {
  const before = firstProcess(id)
  const saved = await timed(async () => {
    times.pause.push(await timed(() => Sandbox.pause(id, { keepMemory: true })))
    await until('the save', () => isSaved(id), 120_000, 5)
  })
  times.saved.push(saved)
  if (from === 'disk') await until('the original to go', () => isGone(id), 120_000)
  const pass = await timed(async () => {
    let box
    times.resume.push(
      await timed(async () => {
        box = await Sandbox.connect(id, { timeoutMs: LIFE })
        await box.commands.run('echo hi')
      }),
    )
    const sum = await lookThrough(box)
    if (sum !== expected) throw new Error(`the sum of all pages was ${expected} before the pause, and is ${sum}`)
  })
  times.pass.push(pass)
  if ((firstProcess(id) !== before) !== (from === 'disk')) throw new Error('a resume was of the other kind')
}

for (const size of sizes) {
  const box = await Sandbox.create({ timeoutMs: LIFE })
  const lookThrough = await hold(box, Number(size))
  const expected = await lookThrough(box)
  const times = { pause: [], saved: [], resume: [], pass: [] }
  // The first touches memory of the machine that no later one has to wait for.
  await cycle(box.sandboxId, lookThrough, expected, { pause: [], saved: [], resume: [], pass: [] })
  for (let i = 0; i < runs; i++) await cycle(box.sandboxId, lookThrough, expected, times)
  await box.kill()
  tell({ size: Number(size), ...times })
  await order()
}
