// The code interpreter's client under test, whichever version the harness installed, and what cases do with it.
import assert from 'node:assert/strict'
import { require, until } from '../client.mjs'

export const interpreter = require('@e2b/code-interpreter')
export const { Sandbox } = interpreter

/** Options of a case that is about methods which old clients do not have. */
export const needs = (...methods) => ({ skip: !methods.every((method) => method in Sandbox.prototype) })

/** Clients that know of contexts' ends also know of tokens for traffic and of killed sandboxes. */
export const isNew = 'removeCodeContext' in Sandbox.prototype

/** Runs a cell that must not fail. Its limit is longer than a busy machine needs. */
export async function run(box, code, options) {
  const execution = await box.runCode(code, { timeoutMs: 180_000, ...options })
  assert.equal(execution.error, undefined, `${execution.error?.name}: ${execution.error?.value}\n${execution.error?.traceback}`)
  return execution
}

export const printed = ({ logs }) => logs.stdout.join('')

/** What a cell says, by its last value or else by what it prints. */
export const said = (execution) => execution.text ?? execution.results[0]?.text ?? printed(execution).trim()

/** Starts a cell that prints `begun` and goes on; returns when it has, with the promise of its end. */
export async function begin(box, code, options = {}) {
  let text = ''
  const running = box.runCode(code, { timeoutMs: 120_000, ...options, onStdout: ({ line }) => (text += line) })
  let failure
  running.catch((error) => (failure = error))
  await until('the cell to begin', () => {
    if (failure) throw failure
    return text.includes('begun')
  })
  return { running }
}

/** Python that waits for a file, and tells when it begins to. */
export const waitFor = (file) => `
import os, time
print('begun', flush=True)
while not os.path.exists('${file}'): time.sleep(0.02)
`

/** Python that counts in memory, as long as anybody would wait, and tells how far it is. */
export const COUNT = `
import os, time
print('begun', flush=True)
for count in range(1_000_000):
    open('/tmp/count.new', 'w').write(str(count)); os.replace('/tmp/count.new', '/tmp/count'); time.sleep(0.02)`
export const counted = async (box) => Number(await box.files.read('/tmp/count'))

/** Whether a promise is still open a moment from now. */
export async function isOpen(promise, moment = 300) {
  const late = Symbol('late')
  return (await Promise.race([promise, new Promise((resolve) => setTimeout(resolve, moment, late))])) === late
}
