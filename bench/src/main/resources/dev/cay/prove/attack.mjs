// Starts an attack and reads what it prints to the end, in a process of its own and behind all others: what that costs
// is the reader's, who has a machine of his own elsewhere, and must not be taken for what the neighbours feel. Says when it is ready, and waits for a line before it starts the attack.
// Arguments: sandbox, then the command's words.
import { once } from 'node:events'
import { setPriority } from 'node:os'

setPriority(10)
const [sandbox, command, ...args] = process.argv.slice(2)
const KEPT = 1000

const message = Buffer.from(JSON.stringify({ process: { cmd: command, args, cwd: '/' }, stdin: false }))
const frame = Buffer.alloc(5 + message.length)
frame.writeUInt32BE(message.length, 1)
message.copy(frame, 5)
const health = await fetch(process.env.E2B_API_URL + '/health')
await health.arrayBuffer()
console.log('{}')
await once(process.stdin, 'data')
process.stdin.unref()
const answer = await fetch(process.env.E2B_SANDBOX_URL + '/process.Process/Start', {
  method: 'POST',
  headers: {
    'Content-Type': 'application/connect+json',
    'E2b-Sandbox-Id': sandbox,
    'E2b-Sandbox-Port': '49983',
    Authorization: 'Basic ' + Buffer.from('root:').toString('base64'),
  },
  body: frame,
})

let rest = Buffer.alloc(0)
let said = ''
let bytes = 0
let error = 'the stream broke off'

function take(event) {
  if (event.data?.stdout) {
    bytes += event.data.stdout.length
    if (said.length < KEPT) said += Buffer.from(event.data.stdout, 'base64').toString().slice(0, KEPT)
  }
  if (event.end) error = event.end.error ?? ''
}

for await (const part of answer.body) {
  const piece = Buffer.from(part.buffer, part.byteOffset, part.length)
  rest = rest.length ? Buffer.concat([rest, piece]) : piece
  while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
    const size = rest.readUInt32BE(1)
    const last = rest[0] === 2
    const text = JSON.parse(rest.subarray(5, 5 + size))
    if (!last) take(text.event ?? {})
    else if (text.error) error = JSON.stringify(text.error)
    rest = rest.subarray(5 + size)
  }
}
console.log(JSON.stringify({ error, said, bytes }))
