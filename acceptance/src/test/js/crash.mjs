// Follows a counter across a crash of the daemon. Speaks with the harness by lines: says `ready`, hears `up`, says a verdict.
import { createInterface } from 'node:readline'
import { Sandbox, until } from './client.mjs'

const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
let text = ''
const onStdout = (data) => (text += data)

const box = await Sandbox.create({ timeoutMs: 300_000 })
const lonely = await box.commands.run('i=0; while :; do i=$((i+1)); echo $i >> /tmp/lonely; sleep 0.05; done', { background: true, timeoutMs: 0 })
const counter = await box.commands.run('i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done', { background: true, timeoutMs: 0, onStdout })
counter.wait().catch(() => {})
lonely.wait().catch(() => {})
await until('the counter', () => text.includes('\n100\n'))
console.log('ready')

await heard.next()
const before = text.length
const alive = await box.isRunning()
const listed = (await box.commands.list()).map((p) => p.pid)
const again = await box.commands.connect(counter.pid, { timeoutMs: 0, onStdout })
again.wait().catch(() => {})
await until('more numbers', () => text.length > before + 1_000)
await again.kill()
const numbers = text.slice(0, text.lastIndexOf('\n')).split('\n').map(Number)
const broken = numbers.findIndex((n, i) => n !== i + 1)
const lonelyAfter = Number((await box.commands.run('tail -n 1 /tmp/lonely')).stdout)
await box.kill()
console.log(JSON.stringify({
  alive,
  listed: listed.includes(counter.pid) && listed.includes(lonely.pid),
  numbers: numbers.length,
  broken: broken < 0 ? null : numbers.slice(Math.max(0, broken - 2), broken + 3),
  lonelyAfter,
}))
process.exit(0)
