// Six languages, the same cases for each.
import assert from 'node:assert/strict'
import { e2b, until } from '../client.mjs'
import { test } from '../cases.mjs'
import { isNew, printed, run, said } from './client.mjs'
import { LANGUAGES } from './languages.mjs'
import { sandbox } from './sandboxes.mjs'

/** Nothing in it may be taken for syntax, whatever a language does with it. */
const AWKWARD = 'it\'s "quoted" $HOME `date` \\n back\\slash %s #{x} ${y}\nsecond\tline  ünï ☃ 😀 '

const boxes = new Map()
const box = (language) => {
  if (!boxes.has(language)) boxes.set(language, sandbox({ envs: { WIDE: 'of all', AWKWARD } }))
  return boxes.get(language)
}

/** A case for every language that the template has. */
function each(name, body) {
  for (const [language, words] of Object.entries(LANGUAGES)) only(language, name, (one) => body(one, words, language))
}

function only(language, name, body) {
  const [number, ...rest] = name.split(' ')
  test(`${number} ${language}: ${rest.join(' ')}`, async (context) => {
    const one = await box(language)
    const there = (await one.files.read('/opt/cay/languages')).split('\n')
    if (!there.includes(language)) return context.skip(`no ${language}`)
    await body(one, LANGUAGES[language])
  })
}

each('3.1 what is printed comes in the pieces that clients expect', async (one, { print, prints }, language) => {
  const { logs, results } = await run(one, print, { language })
  assert.deepEqual(logs.stdout, prints)
  assert.deepEqual(logs.stderr, [])
  assert.deepEqual(results, [])
})

each('3.1 complaints arrive', async (one, { complain }, language) => {
  const { logs } = await run(one, complain, { language })
  const where = language === 'bash' ? [...logs.stdout, ...logs.stderr] : logs.stderr
  assert.equal(where.join(''), 'oops\n')
})

each('3.2 state is kept between cells', async (one, { store, recall, recalls }, language) => {
  await run(one, store, { language })
  assert.equal(said(await run(one, recall, { language })), recalls)
})

each('4.1 an error has a name, a value and what came before it', async (one, { fails, recall }, language) => {
  const execution = await one.runCode(fails.code, { language })
  assert.match(execution.error?.name, fails.name)
  assert.match(execution.error.value, fails.value)
  assert.equal(typeof execution.error.traceback, 'string')
  assert.doesNotMatch(execution.error.traceback, /\u001b/)
  assert.equal(printed(execution), 'before\n')
  await run(one, recall, { language })
})

each('4.1 a cell that cannot be parsed is an error and is counted', async (one, { unparsable, recall }, language) => {
  const before = (await run(one, recall, { language })).executionCount
  const execution = await one.runCode(unparsable, { language })
  assert.ok(execution.error)
  assert.equal(execution.executionCount, before + 1)
  assert.equal((await run(one, recall, { language })).executionCount, before + 2)
})

each('3.6 cells begin in /home/user', async (one, { cwd, cwdText }, language) => {
  assert.equal(said(await run(one, cwd, { language })), cwdText('/home/user'))
})

each('3.6 a context has the directory it was made with', async (one, { cwd, cwdText }, language) => {
  await one.commands.run('mkdir -p /tmp/elsewhere')
  const context = await one.createCodeContext({ language, cwd: '/tmp/elsewhere' })
  assert.equal(context.cwd, '/tmp/elsewhere')
  assert.equal(context.language, language)
  assert.equal(said(await run(one, cwd, { context })), cwdText('/tmp/elsewhere'))
  if (!isNew) return
  await one.restartCodeContext(context)
  assert.equal(said(await run(one, cwd, { context })), cwdText('/tmp/elsewhere'), 'after a restart')
  await one.removeCodeContext(context)
})

each('3.5 variables of the sandbox are seen, whatever is in them', async (one, { show }, language) => {
  assert.equal(printed(await run(one, show('WIDE'), { language })), 'of all')
  assert.equal(printed(await run(one, show('AWKWARD'), { language })), AWKWARD)
})

each('3.5 variables of one cell are gone afterwards', async (one, { show }, language) => {
  const own = { language, envs: { ONCE: AWKWARD, EMPTY: '' } }
  assert.equal(printed(await run(one, show('ONCE'), own)), AWKWARD)
  assert.equal(printed(await run(one, show('EMPTY'), own)), '')
  assert.equal(printed(await run(one, show('ONCE'), { language })), 'gone')
  assert.equal(printed(await run(one, show('EMPTY'), { language })), 'gone')
})

each('3.5 variables of one cell go before those of the sandbox, which come back', async (one, { show }, language) => {
  assert.equal(printed(await run(one, show('WIDE'), { language, envs: { WIDE: 'of one' } })), 'of one')
  assert.equal(printed(await run(one, show('WIDE'), { language })), 'of all')
})

each('3.5 variables of a cell that fails are gone afterwards', async (one, { show, fails, unparsable }, language) => {
  for (const code of [fails.code, unparsable]) {
    assert.ok((await one.runCode(code, { language, envs: { ONCE: 'x', WIDE: 'y' } })).error)
    assert.equal(printed(await run(one, show('ONCE'), { language })), 'gone')
    assert.equal(printed(await run(one, show('WIDE'), { language })), 'of all')
  }
})

for (const [language, { endless }] of Object.entries(LANGUAGES)) {
  for (const [how, code] of Object.entries(endless)) {
    only(language, `3.3 a timeout interrupts a cell that is ${how}, and keeps the state`, async (one, words) => {
      const { reset, recall, recalls, show } = words
      await run(one, reset, { language })
      const timedOut = one.runCode(code, { language, timeoutMs: 1_500, envs: { ONCE: 'x', WIDE: 'y' } })
      await assert.rejects(timedOut, e2b.TimeoutError)
      assert.equal(said(await run(one, recall, { language, timeoutMs: 30_000 })), recalls)
      assert.equal(printed(await run(one, show('ONCE'), { language })), 'gone')
      assert.equal(printed(await run(one, show('WIDE'), { language })), 'of all')
    })
  }
}

each('3.4 the end of its runner is told, and the next cell works', async (one, { dies, print, prints, reset, recall, show }, language) => {
  await run(one, reset, { language })
  const { error } = await one.runCode(dies, { language })
  assert.deepEqual({ ...error }, { name: 'ContextRestarting', value: 'Context was restarted', traceback: '' })
  const next = await run(one, print, { language })
  assert.deepEqual(next.logs.stdout, prints)
  assert.equal(next.executionCount, 1)
  assert.equal(printed(await run(one, show('WIDE'), { language })), 'of all')
  const after = await one.runCode(recall, { language })
  assert.ok(language === 'bash' ? said(after) === '1' : after.error, 'nothing of the old state is there')
})

each('3.6 the new runner of a context begins in its directory', async (one, { dies, cwd, cwdText }, language) => {
  const context = await one.createCodeContext({ language, cwd: '/var' })
  assert.equal((await one.runCode(dies, { context })).error?.name, 'ContextRestarting')
  assert.equal(said(await run(one, cwd, { context })), cwdText('/var'))
})

only('javascript', '3 names of languages may be short or shouted', async (one) => {
  await run(one, 'globalThis.where = "js"', { language: 'js' })
  assert.equal((await run(one, 'where', { language: ' JavaScript ' })).text, 'js')
})

only('typescript', '3 state is not shared with javascript', async (one) => {
  await run(one, 'globalThis.mine = "ts"', { language: 'ts' })
  assert.equal((await run(one, 'typeof mine', { language: 'js' })).text, 'undefined')
  assert.equal((await run(one, 'mine', { language: 'typescript' })).text, 'ts')
})

only('python', '3 two first cells of a language share one context', async () => {
  const one = await sandbox()
  const [a, b] = await Promise.all([run(one, 'echo $$', { language: 'bash' }), run(one, 'echo $$', { language: 'bash' })])
  assert.equal(printed(a), printed(b))
})

only('python', '3.5 a cell that is indented as a whole runs', async (one) => {
  const { text } = await run(one, `
    import os
    if True:
        answer = 42
    answer
  `)
  assert.equal(text, '42')
})

only('python', '3.5 a variable that a cell sets itself stays', async (one) => {
  await run(one, 'import os; os.environ["SET_HERE"] = "kept"', { envs: { ONCE: 'x' } })
  assert.equal(printed(await run(one, LANGUAGES.python.show('SET_HERE'))), 'kept')
})

only('python', '3.3 an interrupt ends awaiting tasks that clean up', async (one) => {
  const code = `
import asyncio
async def tidy():
    global tidied
    try:
        await asyncio.sleep(300)
    finally:
        tidied = True
await tidy()`
  await assert.rejects(one.runCode(code, { timeoutMs: 1_500 }), e2b.TimeoutError)
  assert.equal((await run(one, 'tidied')).text, 'True')
})

only('python', '3.3 code that comes back late is not interrupted by the timeout of another', async (one) => {
  await assert.rejects(one.runCode('import time; time.sleep(300)', { timeoutMs: 500 }), e2b.TimeoutError)
  assert.equal((await run(one, 'import time; time.sleep(3); "slept"')).text, 'slept')
})

only('javascript', '4.1 modules are imported and values awaited', async (one) => {
  assert.equal((await run(one, "await Promise.resolve('Hello World!')", { language: 'js' })).text, 'Hello World!')
  const { logs } = await run(one, "import { readFileSync } from 'fs'\nconsole.log(typeof readFileSync)", { language: 'js' })
  assert.deepEqual(logs.stdout, ['function\n'])
  assert.equal((await run(one, 'typeof readFileSync', { language: 'js' })).text, 'function', 'in the next cell as well')
})

only('java', '3.2 classes, methods and imports are kept', async (one) => {
  await run(one, 'import java.util.stream.*;\nrecord Pair(int a, int b) {}\nint twice(int n) { return 2 * n; }', { language: 'java' })
  const { text } = await run(one, 'IntStream.of(new Pair(1, 2).b(), twice(20)).sum()', { language: 'java' })
  assert.equal(text, '42')
})

only('bash', '3.2 functions and directories are kept', async (one) => {
  await run(one, 'greet() { echo "hi $1"; }; cd /tmp', { language: 'bash' })
  assert.equal(printed(await run(one, 'greet you; pwd', { language: 'bash' })), 'hi you\n/tmp\n')
})

only('r', '4 what is printed by value is a result', async (one) => {
  const execution = await run(one, 'x <- c(1, 2, 3)\nmean(x)', { language: 'r' })
  assert.equal(execution.results.length, 1)
  assert.equal(execution.results[0].text, '[1] 2')
  assert.equal(execution.text, undefined)
})

only('r', '4 a plot is a picture', async (one) => {
  const execution = await run(one, 'plot(1:10)', { language: 'r' })
  assert.equal(Buffer.from(execution.results[0].png, 'base64').subarray(1, 4).toString(), 'PNG')
})

only('bash', '3.4 children of a runner end with it', async (one) => {
  await run(one, 'sleep 4321 & echo $!', { language: 'bash' })
  if (!isNew) return
  const context = (await one.listCodeContexts()).find(({ language }) => language === 'bash')
  await one.restartCodeContext(context)
  await until('its end', async () => (await one.commands.run('pgrep -fc "^sleep 4321" || true', { user: 'root' })).stdout === '0\n')
})
