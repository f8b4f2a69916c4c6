// Runs many short commands in one sandbox, some at a time, twice: the first run warms up.
import { Sandbox, atOnce, tell, timed } from './client.mjs'

const [count, width] = process.argv.slice(2).map(Number)
const box = await Sandbox.create({ timeoutMs: 600_000 })
async function run() {
  const times = []
  const took = await timed(() =>
    atOnce(count, width, async (i) => {
      times.push(
        await timed(async () => {
          const { stdout } = await box.commands.run(`echo hi ${i}`)
          if (stdout !== `hi ${i}\n`) throw new Error(`command ${i} printed ${JSON.stringify(stdout)}`)
        }),
      )
    }),
  )
  return { seconds: took / 1000, times }
}
await run()
tell(await run())
await box.kill()
process.exit(0)
