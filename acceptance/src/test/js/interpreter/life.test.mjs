// Contexts through the lives of their sandboxes.
import assert from 'node:assert/strict'
import { test } from '../cases.mjs'
import { until } from '../client.mjs'
import { COUNT, Sandbox, begin, counted, isNew, printed, run, said } from './client.mjs'
import { LANGUAGES } from './languages.mjs'
import { keep, sandbox } from './sandboxes.mjs'

/** Waits until it has counted for longer than anybody would wait who takes it for lost. */
const goesOn = async (box) => {
  const before = await counted(box)
  await until('the count to go on', async () => (await counted(box)) > before + 200)
}
const present = async (box) => (await box.files.read('/opt/cay/languages')).split('\n').filter((name) => name in LANGUAGES)

test('3.3 variables of every language are there after a pause', async () => {
  const box = await sandbox({ envs: { WIDE: 'seen' } })
  const languages = await present(box)
  for (const language of languages) await run(box, LANGUAGES[language].store, { language })
  const own = await box.createCodeContext({ cwd: '/tmp' })
  await run(box, 'mine = "kept"', { context: own })
  await box.pause()
  const again = await Sandbox.connect(box.sandboxId)
  for (const language of languages) {
    const { recall, recalls, show } = LANGUAGES[language]
    assert.equal(said(await run(again, recall, { language })), recalls, language)
    assert.equal(printed(await run(again, show('WIDE'), { language })), 'seen', language)
  }
  assert.equal((await run(again, 'import os; mine + os.getcwd()', { context: own })).text, 'kept/tmp')
  if (isNew) assert.ok((await again.listCodeContexts()).some(({ id }) => id === own.id))
})

test('3.3 a cell that runs goes on after a pause, until its context is wanted', async () => {
  const box = await sandbox()
  const { running } = await begin(box, COUNT)
  const ended = assert.rejects(running)
  await box.pause()
  await ended
  const again = await Sandbox.connect(box.sandboxId)
  const before = await counted(again)
  await goesOn(again)
  const { text } = await run(again, 'count', { timeoutMs: 30_000 })
  assert.ok(Number(text) > before, `${text} > ${before}`)
  assert.equal((await run(again, '1 + 1')).text, '2')
})

test('3.3 a cell that prints goes on after a pause as well, and keeps its state when it is stopped', async () => {
  const box = await sandbox()
  const { running } = await begin(box, COUNT + '\n    print(count)')
  const ended = assert.rejects(running)
  await box.pause()
  await ended
  const again = await Sandbox.connect(box.sandboxId)
  await goesOn(again)
  assert.match((await run(again, 'count', { timeoutMs: 30_000 })).text, /^\d+$/)
})

test('3.3 three pauses in a row lose nothing', async () => {
  let box = await sandbox()
  await run(box, 'rounds = []')
  for (let i = 0; i < 3; i++) {
    await run(box, `rounds.append(${i})`)
    await box.pause()
    box = await Sandbox.connect(box.sandboxId)
  }
  assert.deepEqual((await run(box, 'rounds')).results[0].json, [0, 1, 2])
})

test('3.3 a pause right after a context was made keeps it, and leaves no python behind that was just being started', async () => {
  let box = await sandbox()
  const pythons = async () => Number((await box.commands.run('pgrep -fc [/]opt/cay/runners/python/runner.py || true')).stdout)
  await until('one more than is needed', async () => (await pythons()) === 2)
  const made = []
  for (let i = 0; i < 3; i++) {
    made.push(await box.createCodeContext())
    await box.pause()
    box = await Sandbox.connect(box.sandboxId)
    await run(box, `mine = ${i}`, { context: made[i] })
  }
  for (let i = 0; i < 3; i++) assert.equal((await run(box, 'mine', { context: made[i] })).text, `${i}`)
  await until('the usual one, three that were made, and one more', async () => (await pythons()) === 5)
})

test('3.3 a fork has the variables, and each its own from then on', async () => {
  const box = await sandbox()
  const context = await box.createCodeContext()
  await run(box, 'shared = [1]')
  await run(box, 'own = "context"', { context })
  await run(box, 'let kept = 20', { language: 'js' })
  const forks = (await box.fork({ count: 2 })).map(keep)
  for (const [i, fork] of forks.entries()) await run(fork, `shared.append("fork ${i}")`)
  assert.deepEqual((await run(box, 'shared')).results[0].json, [1])
  for (const [i, fork] of forks.entries()) {
    assert.deepEqual((await run(fork, 'shared')).results[0].json, [1, `fork ${i}`])
    assert.equal((await run(fork, 'own', { context })).text, 'context')
    assert.equal((await run(fork, 'kept += 1; kept', { language: 'js' })).text, '21')
  }
})

/** One of each generator there is; some are kept in stock by the language itself. */
const DRAW = {
  python: `
import random, secrets, ssl, tempfile, uuid, numpy as np
' '.join(map(str, [random.random(), np.random.rand(), uuid.uuid4(), secrets.token_hex(), ssl.RAND_bytes(8).hex(), tempfile.mktemp()]))`,
  js: `
const crypto = await import('node:crypto')
const pair = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' }).toString('hex');
[Math.random(), crypto.randomBytes(8).toString('hex'), crypto.randomUUID(), crypto.randomInt(2 ** 40), pair].join(' ')`,
  bash: 'echo $RANDOM$RANDOM$RANDOM$RANDOM $SRANDOM',
}

async function requireDifferent(sandboxes) {
  for (const [language, code] of Object.entries(DRAW)) {
    const drawn = await Promise.all(sandboxes.map(async (one) => said(await run(one, code, { language })).split(' ')))
    for (const i of drawn[0].keys()) {
      assert.equal(new Set(drawn.map((words) => words[i])).size, sandboxes.length, `${language}, ${i}: ${drawn.join('; ')}`)
    }
  }
}

test('3.3 forks do not draw the same random numbers', async () => {
  const box = await sandbox()
  for (const [language, code] of Object.entries(DRAW)) await run(box, code, { language })
  await requireDifferent([box, ...(await box.fork({ count: 2 })).map(keep)])
})

test('3.3 new sandboxes do not draw the same random numbers', async () => {
  await requireDifferent(await Promise.all([sandbox(), sandbox(), sandbox()]))
})

test('3.3 a fork takes a cell that runs along', async () => {
  const box = await sandbox()
  const { running } = await begin(box, COUNT)
  running.catch(() => {})
  const [fork] = (await box.fork()).map(keep)
  await Promise.all([box, fork].map(goesOn))
  for (const one of [fork, box]) assert.match((await run(one, 'count', { timeoutMs: 30_000 })).text, /^\d+$/)
})

test('3.5 variables of one sandbox never reach another', async () => {
  const [one, other] = await Promise.all([sandbox({ envs: { WHOSE: 'one' } }), sandbox({ envs: { WHOSE: 'other', MORE: 'x' } })])
  const show = 'import os; (os.environ["WHOSE"], os.environ.get("MORE"), os.environ["E2B_SANDBOX_ID"])'
  assert.equal((await run(one, show)).text, `('one', None, '${one.sandboxId}')`)
  assert.equal((await run(other, show)).text, `('other', 'x', '${other.sandboxId}')`)
})

test('2 a snapshot makes sandboxes with the same contexts', { skip: !('createSnapshot' in Sandbox.prototype) }, async () => {
  const box = await sandbox()
  const context = await box.createCodeContext()
  await run(box, 'x = "snapped"', { context })
  const snapshot = await box.createSnapshot()
  try {
    const copy = keep(await Sandbox.create(snapshot.snapshotId, { timeoutMs: 120_000 }))
    assert.equal((await run(copy, 'x', { context })).text, 'snapped')
  } finally {
    await Sandbox.deleteSnapshot(snapshot.snapshotId)
  }
})
