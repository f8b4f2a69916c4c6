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
const whole = await readAgain(box, counter.pid, text.length)
await again.kill()
const numbers = lines(text)
const lonelyAfter = Number((await box.commands.run('tail -n 1 /tmp/lonely')).stdout)
await box.kill()
console.log(JSON.stringify({
  alive,
  listed: listed.includes(counter.pid) && listed.includes(lonely.pid),
  numbers: numbers.length,
  broken: firstBreak(numbers),
  brokenWhenReadAgain: firstBreak(lines(whole)),
  lonelyAfter,
}))
process.exit(0)

function lines(output) {
  return output.slice(0, output.lastIndexOf('\n')).split('\n').map(Number)
}

function firstBreak(numbers) {
  const at = numbers.findIndex((n, i) => n !== i + 1)
  return at < 0 ? null : numbers.slice(Math.max(0, at - 2), at + 3)
}

/** The command's output from its first byte on, by the header that names an offset. */
async function readAgain(box, pid, atLeast) {
  const message = Buffer.from(JSON.stringify({ process: { pid } }))
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, 5)
  const abort = new AbortController()
  const answer = await fetch(process.env.E2B_SANDBOX_URL + '/process.Process/Connect', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/connect+json',
      'Connect-Protocol-Version': '1',
      'E2b-Sandbox-Id': box.sandboxId,
      'E2b-Sandbox-Port': '49983',
      'X-Access-Token': box.envdAccessToken,
      'Cay-Output-From': 'stdout=0,stderr=0',
    },
    body: frame,
    signal: abort.signal,
  })
  let bytes = Buffer.alloc(0)
  let output = ''
  for await (const piece of answer.body) {
    bytes = Buffer.concat([bytes, piece])
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      const size = bytes.readUInt32BE(1)
      const event = JSON.parse(bytes.subarray(5, 5 + size)).event
      output += Buffer.from(event?.data?.stdout ?? '', 'base64')
      bytes = bytes.subarray(5 + size)
    }
    if (output.length >= atLeast) break
  }
  return output
}
