// Creates until the machine refuses, and tells what the client makes of it; waits for space, and creates again.
import { createInterface } from 'node:readline'
import { Sandbox, until } from './client.mjs'

const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
let message = null
try {
  await Sandbox.create({ timeoutMs: 60_000 })
} catch (failure) {
  message = failure.message
}
console.log(JSON.stringify({ message }))
await heard.next()
// What was deleted is free a moment later, when the file system has written it down.
const box = await until('room', () => Sandbox.create({ timeoutMs: 60_000 }).catch(() => null), 180_000)
const { stdout } = await box.commands.run('echo back')
await box.kill()
console.log(JSON.stringify({ stdout }))
process.exit(0)
