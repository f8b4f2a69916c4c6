// Fills the machine with idle sandboxes, and measures creates when there are few and when there are many.
import { Sandbox, atOnce, order, pause, tell, timed } from './client.mjs'

const count = Number(process.argv[2])
const boxes = []
const make = async () => boxes.push(await Sandbox.create({ timeoutMs: 3_600_000 }))

async function creates(n) {
  const times = []
  for (let i = 0; i < n; i++) {
    await pause(100)
    times.push(await timed(make))
  }
  return times
}

// The daemon and this program warm up first, so that they are not counted among the sandboxes' memory.
for (let i = 0; i < 30; i++) {
  await make()
  await boxes.pop().kill()
}
await pause(3000)
tell({ ready: true })
await order()
await creates(10)
tell({ times: await creates(30) })
let told = 0
await atOnce(count - boxes.length - 30, 4, async () => {
  await make()
  await boxes.at(-1).commands.run('true')
  if (boxes.length >= told + 100) tell({ made: (told = boxes.length) })
})
tell({ full: true })
await pause(5000)
tell({ times: await creates(30) })
await order()
const began = performance.now()
await atOnce(boxes.length, 8, (i) => boxes[i].kill())
tell({ seconds: (performance.now() - began) / 1000 })
process.exit(0)
