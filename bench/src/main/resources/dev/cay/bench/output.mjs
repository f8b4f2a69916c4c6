// Reads much output of a command, straight from the wire and by the SDK, and times what a terminal echoes.
import http from 'node:http'
import { Sandbox, tell, timed } from './client.mjs'

const [megabytes, keys] = process.argv.slice(2).map(Number)
const box = await Sandbox.create({ timeoutMs: 600_000 })
const command = `head -c ${megabytes * 1_000_000} /dev/zero | tr '\\0' x`

/** Starts the command and counts what its frames carry. */
function raw() {
  const edge = new URL(process.env.E2B_SANDBOX_URL)
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: edge.hostname,
      port: edge.port,
      method: 'POST',
      path: '/process.Process/Start',
      headers: {
        'Content-Type': 'application/connect+proto',
        'E2b-Sandbox-Id': box.sandboxId,
        'E2b-Sandbox-Port': '49983',
        'X-Access-Token': box.envdAccessToken ?? '',
      },
    })
    request.on('error', reject).on('response', (answer) => {
      let bytes = 0
      answer.on('data', (piece) => (bytes += piece.length))
      answer.on('end', () => (bytes > megabytes * 1_000_000 ? resolve() : reject(new Error('only ' + bytes))))
      answer.on('error', reject)
    })
    // As protobuf: process { cmd = 1, args = 2 }, stdin = 4.
    const text = (field, value) => Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)])
    const config = Buffer.concat([text(1, '/bin/bash'), text(2, '-c'), text(2, command)])
    const body = Buffer.concat([Buffer.from([10, config.length]), config, Buffer.from([32, 0])])
    const head = Buffer.alloc(5)
    head.writeUInt32BE(body.length, 1)
    request.end(Buffer.concat([head, body]))
  })
}

const rate = (ms) => megabytes / (ms / 1000)
let best = 0
for (let i = 0; i < 3; i++) best = Math.max(best, rate(await timed(raw)))

let heard = 0
const run = () => box.commands.run(command, { onStdout: (text) => (heard += text.length), timeoutMs: 0 })
const sdk = rate(await timed(run))
if (heard !== megabytes * 1_000_000) throw new Error('only ' + heard)

let shown = () => {}
const pty = await box.pty.create({ cols: 80, rows: 24, onData: (data) => shown(Buffer.from(data).toString()) })
const wait = (text) =>
  new Promise((resolve) => {
    let seen = ''
    shown = (more) => {
      seen += more
      if (seen.includes(text)) resolve()
    }
  })
const begun = wait('begun')
await box.pty.sendInput(pty.pid, Buffer.from('stty -icanon -echo; echo beg""un; cat\n'))
await begun
const times = []
for (let i = 0; i < keys + 50; i++) {
  const key = String.fromCharCode(97 + (i % 26))
  const echoed = wait(key)
  const took = await timed(async () => {
    box.pty.sendInput(pty.pid, Buffer.from(key)).catch(() => {})
    await echoed
  })
  if (i >= 50) times.push(took)
}
await box.kill()
tell({ raw: best, sdk, keys: times })
process.exit(0)
