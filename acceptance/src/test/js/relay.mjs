// Runs a program in a network namespace of its own, in which some ports of loopback lead to the same ports outside.
//
// A browser drops what it has under way whenever an interface of its network comes or goes, as those of sandboxes do all
// the time; and nothing it would like to tell the world gets there.
import { spawn } from 'node:child_process'
import net from 'node:net'
import { fileURLToPath } from 'node:url'

const SELF = fileURLToPath(import.meta.url)

/** Starts a program there; descriptors 3 and 4 are pipes. Its process group is its own. */
export async function spawnApart(socket, ports, command) {
  const [program, ...args] = await apart(socket, ports, command)
  return spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true })
}

/** The command that starts a program there, for as long as this process runs. */
export async function apart(socket, ports, command) {
  for (const port of ports) await forward(`${socket}-${port}`, { host: '127.0.0.1', port })
  const inside = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath, SELF, socket, ports.join()]
  return ['unshare', ...inside, ...command]
}

/** Everything that connects to `from` is connected to `to`. */
function forward(from, to) {
  const server = net.createServer((near) => {
    const far = net.connect(to)
    near.pipe(far).pipe(near)
    // Else an answer that never ends would keep the connection, and with it this process.
    near.on('close', () => far.destroy())
    for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy())
  })
  return new Promise((resolve) => server.unref().listen(from, resolve))
}

if (process.argv[1] === SELF) {
  const [socket, ports, program, ...args] = process.argv.slice(2)
  for (const port of ports.split(',')) await forward({ host: '127.0.0.1', port }, { path: `${socket}-${port}` })
  spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 3, 4] }).on('exit', (code) => process.exit(code ?? 1))
}
