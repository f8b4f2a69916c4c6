// Contexts: where cells share their state, one after the other, and apart from those of others.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from '../cases.mjs'
import { deep, e2b, until } from '../client.mjs'
import { begin, isOpen, needs, printed, run, waitFor } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const deepTest = deep(test)

let box
before(async () => {
  box = await sandbox()
})

const lists = needs('listCodeContexts')
const ids = async () => (await box.listCodeContexts()).map(({ id }) => id)
const touch = (file) => box.files.write(file, '')

test('2 a new sandbox has contexts of python and javascript', lists, async () => {
  const one = await sandbox()
  const contexts = await one.listCodeContexts()
  assert.deepEqual(contexts.map(({ language }) => language).sort(), ['javascript', 'python'])
  for (const context of contexts) {
    assert.deepEqual(Object.keys(context).sort(), ['cwd', 'id', 'language'])
    assert.equal(context.cwd, '/home/user')
  }
})

test('2 create gives a context of python in /home/user', { covers: ['Sandbox.createCodeContext', 'Sandbox.runCode'] }, async () => {
  const context = await box.createCodeContext()
  assert.deepEqual(context, { id: context.id, language: 'python', cwd: '/home/user' })
  assert.equal((await run(box, '1 + 1', { context })).text, '2')
})

deepTest('2 a new context takes a python that was started before', async () => {
  const one = await sandbox()
  const { memoryMB } = await one.getInfo()
  assert.ok(memoryMB === undefined || memoryMB >= 1024)
  const runners = async () => (await one.commands.run('pgrep -f [/]opt/cay/runners/python/runner.py || true')).stdout.split('\n').filter(Boolean)
  await until('one more than is needed', async () => (await runners()).length === 2)
  // One that is still loading is not taken; another one is started, and it is taken for the next context.
  let contexts = 0
  await until('a context on a python that was there', async () => {
    const before = await runners()
    const context = await one.createCodeContext()
    contexts++
    return before.includes((await run(one, 'import os; os.getpid()', { context })).text)
  })
  await until('the next one', async () => (await runners()).length === contexts + 2)
})

test('2 list has contexts in the order they were made', { ...lists, covers: ['Sandbox.listCodeContexts'] }, async () => {
  const first = await box.createCodeContext({ language: 'python', cwd: '/root' })
  assert.deepEqual((await box.listCodeContexts()).at(-1), { id: first.id, language: 'python', cwd: '/root' })
  const second = await box.createCodeContext({ language: 'js' })
  assert.deepEqual((await box.listCodeContexts()).slice(-2), [first, second])
  assert.equal(second.language, 'javascript')
})

test('2 remove takes a context away', { ...lists, covers: ['Sandbox.removeCodeContext'] }, async () => {
  const context = await box.createCodeContext()
  await box.removeCodeContext(context)
  assert.ok(!(await ids()).includes(context.id))
  await assert.rejects(box.runCode('1', { context }), (error) =>
    error instanceof e2b.NotFoundError && error.message === `Context ${context.id} not found`)
  await assert.rejects(box.removeCodeContext(context.id), e2b.NotFoundError)
})

test('2 restart forgets all and keeps the context', { ...lists, covers: ['Sandbox.restartCodeContext'] }, async () => {
  const context = await box.createCodeContext()
  await run(box, 'x = 1', { context })
  await box.restartCodeContext(context.id)
  assert.ok((await ids()).includes(context.id))
  const { error, executionCount } = await box.runCode('x', { context })
  assert.equal(error.name, 'NameError')
  assert.equal(error.value, "name 'x' is not defined")
  assert.equal(executionCount, 1)
})

test('2 restart of a default context brings it back', lists, async () => {
  const one = await sandbox({ envs: { WIDE: 'seen' } })
  await run(one, 'x = 1')
  const [context] = (await one.listCodeContexts()).filter(({ language }) => language === 'python')
  await one.restartCodeContext(context)
  assert.equal((await one.runCode('x')).error?.name, 'NameError')
  assert.equal((await run(one, 'import os; os.environ["WIDE"]')).text, 'seen')
  await one.removeCodeContext(context)
  assert.equal((await run(one, '1 + 1')).text, '2', 'and a removed one is made anew')
})

test('2 an unknown context is not found', async () => {
  const context = { id: 'no-such-context', language: 'python', cwd: '/' }
  const isNotFound = (error) => error instanceof e2b.NotFoundError && error.message === 'Context no-such-context not found'
  await assert.rejects(box.runCode('1', { context }), isNotFound)
  if (!box.restartCodeContext) return
  await assert.rejects(box.restartCodeContext(context), isNotFound)
  await assert.rejects(box.removeCodeContext(context), isNotFound)
})

test('2 an unknown language is refused', async () => {
  await assert.rejects(box.createCodeContext({ language: 'cobol' }), e2b.SandboxError)
  await assert.rejects(box.runCode('1', { language: 'cobol' }), e2b.SandboxError)
  assert.equal((await run(box, '1 + 1')).text, '2')
})

test('3 context and language together are refused', async () => {
  const context = await box.createCodeContext()
  await assert.rejects(box.runCode('1', { context, language: 'python' }), e2b.InvalidArgumentError)
})

deepTest('3 contexts know nothing of each other', async () => {
  await run(box, 'x = 1')
  const context = await box.createCodeContext()
  const { error } = await box.runCode('x', { context })
  assert.equal(error.value, "name 'x' is not defined")
})

test('3.4 restart during a run ends it with an error', lists, async () => {
  const context = await box.createCodeContext()
  const { running } = await begin(box, 'print("begun"); import time; time.sleep(300)', { context })
  await box.restartCodeContext(context)
  const { error } = await running
  assert.equal(error.name, 'UnexpectedEndOfExecution')
  assert.equal(error.traceback, '')
  assert.equal((await run(box, '1 + 1', { context })).text, '2')
})

test('3.4 remove during a run ends it with an error', lists, async () => {
  const context = await box.createCodeContext()
  const { running } = await begin(box, 'print("begun")\nwhile True: pass', { context })
  await box.removeCodeContext(context)
  assert.equal((await running).error.name, 'UnexpectedEndOfExecution')
  assert.ok(!(await ids()).includes(context.id))
})

test('3.4 cells that wait for their turn in a removed context end', lists, async () => {
  const context = await box.createCodeContext()
  const { running } = await begin(box, 'print("begun"); import time; time.sleep(300)', { context })
  const waiting = box.runCode('1', { context })
  assert.ok(await isOpen(waiting))
  await box.removeCodeContext(context)
  assert.equal((await running).error.name, 'UnexpectedEndOfExecution')
  assert.ok((await waiting).error)
})

deepTest('3.2 cells of one context run one after the other, in order', async () => {
  const context = await box.createCodeContext()
  const { running } = await begin(box, 'order = []' + waitFor('/tmp/in-order'), { context })
  const queued = []
  for (let i = 0; i < 5; i++) {
    queued.push(box.runCode(`order.append(${i}); order`, { context }))
    await isOpen(queued[i])
  }
  await touch('/tmp/in-order')
  await running
  const counts = (await Promise.all(queued)).map(({ executionCount }) => executionCount)
  assert.deepEqual(counts, [2, 3, 4, 5, 6])
  assert.deepEqual((await run(box, 'order', { context })).results[0].json, [0, 1, 2, 3, 4])
})

deepTest('3.2 different contexts run at the same time', async () => {
  const [one, other] = await Promise.all([box.createCodeContext(), box.createCodeContext({ language: 'javascript' })])
  const { running } = await begin(box, waitFor('/tmp/at-once'), { context: one })
  // The first can only end because the second one runs.
  await run(box, "require('node:fs').writeFileSync('/tmp/at-once', '')", { context: other })
  assert.equal((await running).error, undefined)
})

deepTest('3.2 a cell whose client goes while it waits never runs', async () => {
  const context = await box.createCodeContext()
  const { running } = await begin(box, waitFor('/tmp/gone-waiting'), { context })
  await assert.rejects(box.runCode('left = True', { context, timeoutMs: 500 }), e2b.TimeoutError)
  await touch('/tmp/gone-waiting')
  assert.equal((await running).error, undefined, 'and the one that runs is left alone')
  assert.equal((await box.runCode('left', { context })).error?.name, 'NameError')
})

deepTest('3.6 a directory that is not there is no obstacle for python alone', async () => {
  const context = await box.createCodeContext({ cwd: '/no/such/place' })
  assert.equal(context.cwd, '/no/such/place')
  assert.equal((await run(box, '1 + 1', { context })).text, '2')
  for (const language of ['javascript', 'bash']) {
    await assert.rejects(box.createCodeContext({ language, cwd: '/no/such/place' }), e2b.SandboxError)
  }
})

test('3.6 the directory of a context is reported as it was asked for', lists, async () => {
  const context = await box.createCodeContext({ cwd: '/root' })
  await run(box, 'import os; os.chdir("/tmp")', { context })
  assert.equal((await box.listCodeContexts()).find(({ id }) => id === context.id).cwd, '/root')
  assert.equal(printed(await run(box, 'print(os.getcwd())', { context })), '/tmp\n')
})

test('2 many contexts can be made and removed', lists, async () => {
  const one = await sandbox()
  const was = (await one.listCodeContexts()).length
  for (let round = 0; round < 3; round++) {
    const made = await Promise.all(Array.from({ length: 4 }, () => one.createCodeContext({ language: 'bash' })))
    const pids = await Promise.all(made.map(async (context) => printed(await run(one, 'echo $$', { context }))))
    assert.equal(new Set(pids).size, 4)
    await Promise.all(made.map((context) => one.removeCodeContext(context)))
  }
  assert.equal((await one.listCodeContexts()).length, was)
  await until('their ends', async () => !(await one.commands.run('pgrep -fa [r]unners/bash || true', { user: 'root' })).stdout)
})

test('the client tells its public methods', async (context) => {
  const hidden = ['constructor', 'jupyterUrl', 'getJupyterRequestUrl', 'includeDiagnostics', 'handleRequestError']
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(box)).filter((name) => !hidden.includes(name))
  context.diagnostic(`has ${methods.map((name) => `Sandbox.${name}`).join(' ')}`)
})
