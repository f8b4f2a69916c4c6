// Pauses and resumes sandboxes that hold more and more memory. Answers one line per size.
import { existsSync, readFileSync } from 'node:fs'
import { Sandbox, hold, order, tell, timed, until } from './client.mjs'

const [, , directory, runs, ...sizes] = process.argv
const LIFE = 3_600_000

const isGone = (id) => !existsSync(`${directory}/state/pool/sandboxes/${id}`)
const firstProcess = (id) => JSON.parse(readFileSync(`${directory}/run/runc/${id}/state.json`)).init_process_pid

/** @param restored whether what is on the disk shall be brought back, and not the frozen original be let go on */
async function cycle(id, restored, times) {
  const before = firstProcess(id)
  times.pause.push(await timed(() => Sandbox.pause(id, { keepMemory: true })))
  if (restored) await until('the original to go', () => isGone(id), 120_000)
  const resume = await timed(async () => {
    const box = await Sandbox.connect(id, { timeoutMs: LIFE })
    await box.commands.run('echo hi')
  })
  if ((firstProcess(id) !== before) === restored) times.resume.push(resume)
}

async function repeat(id, restored) {
  const times = { pause: [], resume: [] }
  // Of those that shall thaw some may come too late.
  for (let i = 0; times.resume.length < runs && i < 3 * runs; i++) await cycle(id, restored, times)
  if (times.resume.length < runs) throw new Error(`only ${times.resume.length} of ${runs} resumes were of the wanted kind`)
  return times
}

for (const size of sizes) {
  const box = await Sandbox.create({ timeoutMs: LIFE })
  await hold(box, Number(size))
  const { pause, resume } = await repeat(box.sandboxId, true)
  const thaw = size === '512' ? (await repeat(box.sandboxId, false)).resume : []
  await box.kill()
  tell({ size: Number(size), pause, resume, thaw })
  await order()
}
