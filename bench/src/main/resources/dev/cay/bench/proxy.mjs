// Asks a server in a sandbox through its port's URL, and the same server on the host straight: nothing on the host may
// open a connection to a sandbox.
import { spawn } from 'node:child_process'
import http from 'node:http'
import { Sandbox, tell, until } from './client.mjs'

const PORT = 8000
const SERVER = `
const http = require('http')
const large = Buffer.alloc(1 << 20, 'x')
http.createServer((request, answer) => {
  if (request.url === '/large') answer.end(large)
  else { answer.setHeader('Content-Type', 'application/json'); answer.end('{"ok":true}') }
}).listen(process.env.BENCH_PORT ?? ${PORT}, '127.0.0.1', function () { console.log(this.address().port) })
`
const box = await Sandbox.create({ timeoutMs: 600_000 })
await box.files.write('/tmp/server.js', SERVER)
const server = await box.commands.run('node /tmp/server.js', { background: true, timeoutMs: 0 })
server.wait().catch(() => {})
const twin = spawn(process.execPath, ['-e', SERVER], { env: { BENCH_PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
const twinPort = Number(await new Promise((resolve) => twin.stdout.once('data', resolve)))

const edge = new URL(process.env.E2B_SANDBOX_URL)
const ways = {
  direct: { host: '127.0.0.1', port: twinPort },
  proxied: {
    host: edge.hostname,
    port: edge.port,
    headers: {
      'E2b-Sandbox-Id': box.sandboxId,
      'E2b-Sandbox-Port': String(PORT),
      'e2b-traffic-access-token': box.trafficAccessToken ?? '',
    },
  },
}

function ask(way, agent, path) {
  return new Promise((resolve, reject) => {
    http.get({ ...way, agent, path }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error('status ' + answer.statusCode))
      answer.resume().on('end', resolve).on('error', reject)
    }).on('error', reject)
  })
}

async function load(way, path, connections, ms) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const times = []
  const began = performance.now()
  const end = began + ms
  const worker = async () => {
    while (performance.now() < end) {
      const asked = performance.now()
      await ask(way, agent, path)
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))]
  return { p50: at(0.5), p99: at(0.99), rate: times.length / seconds }
}

await until('the server', () => ask(ways.proxied, undefined, '/').then(() => true, () => false))
const found = {}
const loads = [1, 8, 64].flatMap((n) => [['small' + n, '/', n], ['large' + n, '/large', n]])
for (const [name, path, connections] of loads) {
  found[name] = {}
  for (const way of Object.keys(ways)) {
    await load(ways[way], path, connections, way === 'proxied' ? 6000 : 2000)
    found[name][way] = await load(ways[way], path, connections, 4000)
  }
}
twin.kill()
await box.kill()
tell(found)
process.exit(0)
