// `cay mcp --http` as a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const [command, ...args] = JSON.parse(process.env.CAY_MCP)

export async function startServer(more = {}) {
  const env = { ...process.env, LOG_LEVEL: 'WARNING', ...more }
  // Clients have their own.
  delete env.E2B_API_KEY
  const child = spawn(command, [...args, '--http', '--port', '0'], { env, stdio: ['ignore', 'inherit', 'pipe'] })
  const url = await new Promise((found, failed) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const match = / (http:\S+\/mcp)/.exec(line)
      if (match) found(new URL(match[1]))
      else console.error(line)
    })
    child.once('exit', (code) => failed(new Error(`the server ended with ${code}`)))
  })
  return {
    url,
    async stop(signal = 'SIGTERM') {
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

export const authorized = (key = process.env.E2B_API_KEY) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } })

export async function state(id) {
  const answer = await fetch(`${process.env.E2B_API_URL}/sandboxes/${id}`, { headers: { 'X-API-KEY': process.env.E2B_API_KEY } })
  return answer.status
}
