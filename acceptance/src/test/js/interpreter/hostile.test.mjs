// Cells that speak to the node in their runner's name. What they say harms their own context at most.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from '../cases.mjs'
import { run } from './client.mjs'
import { sandbox } from './sandboxes.mjs'
import { execute, ofType } from './wire.mjs'

/** Python that finds the pipes on which its runner speaks to the node: those whose other ends are elsewhere. */
const VOICE = `
import fcntl, os, stat
ends = {os.O_RDONLY: {}, os.O_WRONLY: {}, os.O_RDWR: {}}
for name in os.listdir('/proc/self/fd'):
    try: state, mode = os.fstat(int(name)), fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE
    except OSError: continue
    if stat.S_ISFIFO(state.st_mode): ends[mode][state.st_ino] = int(name)
voices = [fd for pipe, fd in ends[os.O_WRONLY].items() if pipe not in ends[os.O_RDONLY]]
def say(text):
    for voice in voices:
        rest = memoryview(text if isinstance(text, bytes) else text.encode())
        while rest:
            try: rest = rest[os.write(voice, rest):]
            except BlockingIOError: __import__('select').select([], [voice], [])
`

let box
before(async () => {
  box = await sandbox()
  await run(box, 'kept = 42')
})

/** A context that can say what it likes, and a look at the others afterwards. */
async function hostile(body) {
  const context = await box.createCodeContext()
  await run(box, VOICE, { context })
  await body(context)
  assert.equal((await run(box, '6 * 7', { context, timeoutMs: 60_000 })).text, '42', 'the context works, or works again')
  assert.equal((await run(box, 'kept')).text, '42', 'the other has all it had')
  await box.removeCodeContext(context)
}

const BROKEN = {
  'that is no JSON': 'say("hello\\n")',
  'that is no object': 'say("[1, 2]\\n")',
  'that is not finished': `say('{"event": "out", "text": "a\\n')`,
  'of bytes that are no text': `say(b'{"event": "out", "text": "\\xff\\xfe"}\\n')`,
  'deeper than anything': `say('{"event": "result", "data": ' + '[' * 100_000 + '\\n')`,
  'that has no end': 'say("x" * (33 << 20))',
  'that prints five megabytes at once': `say('{"event": "out", "text": "' + 'x' * (5 << 20) + '"}\\n')`,
}
for (const [what, code] of Object.entries(BROKEN)) {
  test(`2 a line ${what} restarts its context alone`, () => hostile(async (context) => {
    const { error } = await box.runCode(`${code}\nimport time; time.sleep(60)`, { context, timeoutMs: 50_000 })
    assert.equal(error?.name, 'ContextRestarting')
    assert.equal((await box.runCode('say', { context })).error?.name, 'NameError', 'a new runner')
  }))
}

test('2 fields of other types are no fields', () => hostile(async (context) => {
  const lines = [
    '{}', '{"event": 5}', '{"event": "out", "text": {"a": 1}}', '{"event": "err"}', '{"event": "begin", "id": "x"}',
    '{"event": "end"}', '{"event": "end", "id": 99999999999999999999999}', '{"event": "end", "id": [1]}', '{"event": "ready", "n": {}}',
    '{"event": "refused", "n": 1}', '{"event": "hello", "x": [[]]}', '',
  ]
  const { text, error, logs } = await box.runCode(lines.map((line) => `say(r'''${line}\n''')`).join('\n') + '\nprint("out")\n1', { context })
  assert.equal(error, undefined)
  assert.deepEqual([text, logs.stdout, logs.stderr], ['1', ['out\n'], []])
}))

test('2 results of other shapes are results', () => hostile(async (context) => {
  const { results, error } = await box.runCode(`
say('{"event": "result"}\\n{"event": "result", "data": [1]}\\n{"event": "result", "main": "yes", "data": {"text/plain": {"a": 1}}}\\n')
say('{"event": "result", "data": {"application/json": 1' + '0' * 5000 + '}}\\n')`, { context })
  assert.equal(error, undefined)
  assert.equal(results.length, 4)
}))

test('2 one cell cannot end another', () => hostile(async (context) => {
  const { text } = await run(box, `
for i in range(1000): say('{"event": "end", "id": %d}\\n' % (i + 1000))
'mine'`, { context })
  assert.equal(text, 'mine')
}))

test('2.1 whatever a runner writes, clients read lines of ASCII', async () => {
  const cell = `${VOICE}
say('{"event":"result","data":\\t{"application/json"\\r:\\r{"a":\\r"\\u2028\\u0085ü"}\\r}\\r}\\n')`
  const { raw, lines } = await execute(box, cell)
  assert.match(raw.toString('latin1'), /^[ -~\n]*$/)
  assert.equal(ofType(lines, 'result')[0].json.a, '\u2028\u0085ü')
})

test('2 a flood that nobody wants is no harm', () => hostile(async (context) => {
  // In pieces that a pipe takes whole: what the runner itself says never comes in the middle of a line.
  const flood = run(box, `line = ('{"event": "nothing", "x": "' + 'y' * 1000 + '"}\\n') * 3\nfor i in range(20000): say(line)\n'done'`, {
    context,
    timeoutMs: 120_000,
  })
  for (let i = 0; i < 20; i++) assert.equal((await run(box, `${i}`)).text, `${i}`)
  assert.equal((await flood).text, 'done')
}))
