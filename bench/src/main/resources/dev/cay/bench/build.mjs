// Builds templates, and creates sandboxes of one that has a server running. Answers twice.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Sandbox, e2b, tell, timed } from './client.mjs'

const { Template, waitForPort } = e2b
const [, , directory, runs, crowd] = process.argv
const times = async (count, work) => {
  const all = []
  for (let i = 0; i < count; i++) all.push(await work(i))
  return all
}

// ---- three steps ---------------------------------------------------------------------------------------------------

const file = join(directory, 'copied.txt')
const change = () => writeFileSync(file, `${Math.random()}`)
const steps = (salt) =>
  Template({ fileContextPath: directory })
    .fromTemplate('base')
    .runCmd(`echo ${salt} > /home/user/first`)
    .copy('copied.txt', '/home/user/copied.txt')
    .runCmd('wc -c /home/user/copied.txt')
change()
const cold = await times(runs, (i) => timed(() => Template.build(steps(`salt ${i}`), 'bench-steps')))
const cached = await times(runs, () => timed(() => Template.build(steps('salt 0'), 'bench-steps')))
const changed = await times(runs, () => (change(), timed(() => Template.build(steps('salt 0'), 'bench-steps'))))
tell({ cold, cached, changed })

// ---- a server that runs when create returns ------------------------------------------------------------------------

const serve = 'python3 -m http.server 8000'
await Template.build(Template().fromTemplate('base').setStartCmd(serve, waitForPort(8000)), 'bench-server', { memoryMB: 256 })
const answer = async (box) => {
  const from = await fetch(`${process.env.E2B_SANDBOX_URL ?? ''}/`, {
    headers: { 'E2b-Sandbox-Id': box.sandboxId, 'E2b-Sandbox-Port': '8000' },
  })
  await from.text()
  if (from.status !== 200) throw new Error(`the server answered ${from.status}`)
}
const first = async (template, prepare = async () => {}) => {
  let box
  const took = await timed(async () => {
    box = await Sandbox.create(template, { timeoutMs: 600_000 })
    await prepare(box)
    await answer(box)
  })
  await box.kill()
  return took
}
const byHand = await times(runs, () =>
  first('base', async (box) => {
    await box.commands.run(serve, { background: true })
    await box.commands.run('until ss -Htln sport = :8000 | grep -q .; do sleep 0.02; done')
  }),
)
const restored = [await first('bench-server')]
// From the second on, spare ones are there if some time passes.
const spare = await times(runs, async () => {
  await new Promise((resume) => setTimeout(resume, 3000))
  return first('bench-server')
})
const boxes = []
let failed = 0
const together = await timed(() =>
  Promise.all(
    Array.from({ length: Number(crowd) }, async () => {
      try {
        const box = await Sandbox.create('bench-server', { timeoutMs: 600_000, requestTimeoutMs: 120_000 })
        boxes.push(box)
        await answer(box)
      } catch {
        failed++
      }
    }),
  ),
)
await Promise.all(boxes.map((box) => box.kill()))
tell({ byHand, restored, spare, together, failed })
