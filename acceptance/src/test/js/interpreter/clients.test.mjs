// What a client tells of sandboxes that end, and how it speaks to one that is guarded.
import assert from 'node:assert/strict'
import { test } from '../cases.mjs'
import { e2b } from '../client.mjs'
import { Sandbox, begin, isNew, needs, run } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

test('3.3 a killed sandbox breaks what runs', { timeout: 60_000 }, async () => {
  const box = await sandbox()
  const { running } = await begin(box, 'print("begun"); import time; time.sleep(300)', { timeoutMs: 0 })
  await box.kill()
  await assert.rejects(running, (error) =>
    !isNew || (error instanceof e2b.TimeoutError && /killed while the request was in progress/.test(error.message)))
})

test('3.3 code for a sandbox that is gone fails as a timeout', async () => {
  const box = await sandbox()
  await box.kill()
  await assert.rejects(box.runCode('1'), e2b.TimeoutError)
})

test('3.3 the time of a sandbox may end during a run', { timeout: 60_000 }, async () => {
  const box = await sandbox({ timeoutMs: 4_000 })
  await assert.rejects(box.runCode('import time; time.sleep(300)', { timeoutMs: 0 }), (error) => !isNew || error instanceof e2b.TimeoutError)
})

const guarded = { secure: true, network: { allowPublicTraffic: false } }

test('1 secured and without public traffic: code, contexts, all of it', { ...needs('listCodeContexts') }, async () => {
  const box = await sandbox(guarded)
  assert.equal((await run(box, 'x =1; x')).text, '1')
  const context = await box.createCodeContext({ language: 'python', cwd: '/root' })
  assert.deepEqual((await box.listCodeContexts()).at(-1), context)
  await run(box, 'x = 1', { context })
  await box.restartCodeContext(context)
  assert.equal((await box.runCode('x', { context })).error?.value, "name 'x' is not defined")
  await box.removeCodeContext(context)
  assert.ok(!(await box.listCodeContexts()).some(({ id }) => id === context.id))
  await box.pause()
  assert.equal((await run(await Sandbox.connect(box.sandboxId), 'x')).text, '1')
})
