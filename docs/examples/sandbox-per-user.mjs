// One sandbox for each user of your service: found again by metadata, paused when nobody needs it, with all its
// variables when they come back.
//
//   npm install @e2b/code-interpreter
//   eval "$(./cay env)"                  # in the directory of Cay
//   node sandbox-per-user.mjs
import { Sandbox } from '@e2b/code-interpreter'

const { E2B_API_URL, E2B_DOMAIN } = process.env
if (!E2B_API_URL && !E2B_DOMAIN) {
  console.error('E2B_API_URL and E2B_DOMAIN are not set, so this looks for E2B\'s cloud. For Cay: eval "$(./cay env)"')
}

async function sandboxOf(user) {
  const found = await Sandbox.list({ query: { metadata: { user }, state: ['running', 'paused'] } }).nextItems()
  if (found.length > 0) return Sandbox.connect(found[0].sandboxId)
  return Sandbox.create({ metadata: { user }, lifecycle: { onTimeout: 'pause' } })
}

const users = [`ada-${process.pid}`, `grace-${process.pid}`]
try {
  for (const user of users) {
    const sandbox = await sandboxOf(user)
    await sandbox.runCode(`name = '${user.split('-')[0]}'; visits = 1`)
    await sandbox.pause()
  }
  for (const user of users) {
    const sandbox = await sandboxOf(user)
    const { text } = await sandbox.runCode(`visits += 1; f'{name}: visit {visits}'`)
    console.log(text)
  }
} finally {
  for (const user of users) {
    const found = await Sandbox.list({ query: { metadata: { user } } }).nextItems()
    await Promise.all(found.map((one) => Sandbox.kill(one.sandboxId)))
  }
}
