// Creates sandboxes one by one and many at once, each until its first command has answered.
import { Sandbox, pause, tell } from './client.mjs'

const [warmUp, oneByOne, atOnce] = process.argv.slice(2).map(Number)

async function one() {
  const began = performance.now()
  const box = await Sandbox.create({ timeoutMs: 300_000 })
  const created = performance.now()
  const { stdout } = await box.commands.run('echo hi')
  if (stdout !== 'hi\n') throw new Error('the command said ' + stdout)
  return { box, create: created - began, total: performance.now() - began }
}

for (let i = 0; i < warmUp; i++) await (await one()).box.kill()
const times = { create: [], total: [] }
for (let i = 0; i < oneByOne; i++) {
  // As people do: not one create right after the other's end.
  await pause(100)
  const { box, create, total } = await one()
  times.create.push(create)
  times.total.push(total)
  await box.kill()
}
tell(times)

await pause(2000)
const began = performance.now()
const made = await Promise.allSettled(Array.from({ length: atOnce }, one))
const seconds = (performance.now() - began) / 1000
await Promise.all(made.map((m) => m.value?.box.kill()))
tell({ seconds, failed: made.filter((m) => m.status === 'rejected').length })
process.exit(0)
