// Runs the shortest command again and again in one sandbox.
import { Sandbox, tell, timed } from './client.mjs'

const [warmUp, count] = process.argv.slice(2).map(Number)
const box = await Sandbox.create({ timeoutMs: 600_000 })
const echo = () => box.commands.run('echo hi')
for (let i = 0; i < warmUp; i++) await echo()
const times = []
for (let i = 0; i < count; i++) times.push(await timed(echo))
await box.kill()
tell({ times })
process.exit(0)
