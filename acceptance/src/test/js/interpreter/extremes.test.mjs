// Cells that are large, loud, broken or stubborn. After each the same context works.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test as plain } from '../cases.mjs'
import { e2b, until } from '../client.mjs'
import { begin, needs, printed, run } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

/** A case after which another cell of the same context must work as ever. */
function test(name, options, body) {
  if (typeof options === 'function') return test(name, {}, options)
  plain(name, options, async (context) => {
    await body(context)
    const next = await run(box, 'print("still"); 6 * 7', { timeoutMs: 60_000 })
    assert.equal(next.text, '42')
    assert.deepEqual(next.logs.stdout, ['still\n'])
  })
}

const MILLION = 1_000_000

test('3 a cell of ten million characters', async () => {
  const { text } = await run(box, `text = "${'x'.repeat(10 * MILLION)}"\nlen(text)`)
  assert.equal(text, '10000000')
})

test('3 a cell of twenty thousand lines', async () => {
  const { text } = await run(box, Array.from({ length: 20_000 }, (_, i) => `n = ${i}`).join('\n') + '\nn')
  assert.equal(text, '19999')
})

test('3.1 an output of a hundred megabytes arrives whole', async () => {
  let length = 0
  let others = 0
  await run(box, 'for i in range(100): print("x" * 999_999)', {
    timeoutMs: 300_000,
    onStdout: ({ line }) => {
      length += line.length
      if (!/^x*\n?x*\n?$/.test(line)) others++
    },
  })
  assert.equal(length, 100 * MILLION)
  assert.equal(others, 0)
})

test('3.1 a million short lines arrive whole', async () => {
  let length = 0
  const code = 'import sys\nfor i in range(1_000_000): sys.stdout.write("%07d\\n" % i)'
  const { logs } = await run(box, code, { timeoutMs: 120_000, onStdout: ({ line }) => (length += line.length) })
  assert.equal(length, 8 * MILLION)
  assert.ok(logs.stdout.length < 100_000, `${logs.stdout.length} pieces`)
})

test('4 a thousand results arrive in order', async () => {
  const { results } = await run(box, 'for i in range(1000): display(i)')
  assert.deepEqual(results.map(({ text }) => Number(text)), Array.from({ length: 1000 }, (_, i) => i))
})

test('4 a result of ten megabytes', async () => {
  const { results } = await run(box, "display({'text/html': 'y' * 10_000_000}, raw=True)")
  assert.equal(results[0].html, 'y'.repeat(10 * MILLION))
})

test('4 a result that is too large for anybody is no silence', async () => {
  const { error, results } = await box.runCode("display({'text/html': 'y' * 60_000_000}, raw=True)", { timeoutMs: 120_000 })
  assert.ok(error || results.length === 1)
})

test('3.1 bytes that are no text', async () => {
  const text = printed(await run(box, 'import os; os.write(1, b"a\\xff\\xfe\\x80b\\xe2\\x98\\x83c"); None'))
  assert.match(text, /^a\ufffd+b☃c$/)
  const junk = printed(await run(box, 'import sys; sys.stdout.flush(); os.write(1, bytes(range(256)) * 256); None'))
  assert.equal(junk.replace(/[^A]/g, '').length, 256)
  await run(box, 'head -c 100000 /dev/urandom', { language: 'bash' })
})

test('3.1 a character is never cut in two', async () => {
  const text = printed(await run(box, 'import os\nfor b in ("☃😀ü" * 1000).encode(): os.write(1, bytes([b]))'))
  assert.equal(text, '☃😀ü'.repeat(1000))
})

test('3.1 half a character is not left to the next cell', async () => {
  assert.equal(printed(await run(box, 'import os; os.write(1, b"a\\xe2\\x98"); None')), 'a\ufffd')
  assert.equal(printed(await run(box, "printf 'a\\xe2\\x98'", { language: 'bash' })), 'a\ufffd')
  assert.equal(printed(await run(box, 'echo whole', { language: 'bash' })), 'whole\n')
})

test('3.1 what children and native code print arrives', async () => {
  const text = printed(await run(box, `
import ctypes, os, subprocess
subprocess.run(['echo', 'child'])
os.system('echo shell')
libc = ctypes.CDLL(None); libc.puts(b'native'); libc.fflush(None)
os.write(1, b'descriptor\\n')
None`))
  for (const word of ['child', 'shell', 'native', 'descriptor']) assert.match(text, new RegExp(`^${word}$`, 'm'))
})

test('3 a cell that closes its own streams', async () => {
  await box.runCode('import os, sys\nfor f in (0, 1, 2): os.close(f)')
  await run(box, 'print("after")')
  await box.runCode('import sys\nsys.stdout.close(); sys.stderr.close(); sys.stdin.close()')
  await run(box, '1')
})

test('3 a bash cell that closes its own streams', async () => {
  await box.runCode('exec 1>&- 2>&-', { language: 'bash' })
  assert.equal(printed(await box.runCode('echo back', { language: 'bash' })), 'back\n')
})

test('3 a cell that closes every descriptor it can find', async () => {
  await box.runCode('import os\nos.closerange(0, 65536)', { timeoutMs: 30_000 }).catch(() => {})
  await box.runCode('1', { timeoutMs: 60_000 })
})

test('3 a cell that forks and reaps', async () => {
  const text = printed(await run(box, `
import os
pid = os.fork()
if pid == 0:
    os.write(1, b'from the child\\n'); os._exit(0)
print(os.waitpid(pid, 0)[1])`))
  assert.equal(text, 'from the child\n0\n')
})

test('3 a cell that forks and forgets', async () => {
  await box.runCode('import os\nforked = os.fork()')
  for (let i = 0; i < 20; i++) assert.equal((await run(box, `${i} + 1`)).text, `${i + 1}`)
})

test('3 processes that are left in the background do not hold the cell', async () => {
  const start = Date.now()
  await run(box, "import subprocess; left = subprocess.Popen(['sleep', '200'])")
  await run(box, '!sleep 200 &')
  await run(box, 'sleep 200 &', { language: 'bash' })
  assert.ok(Date.now() - start < 150_000)
  await run(box, 'left.kill(); left.wait()')
})

test('3 threads that print after their cell', async () => {
  await run(box, `
import threading, time
def shout():
    for i in range(200): print('late', i); time.sleep(0.005)
late = threading.Thread(target=shout); late.start()`)
  await until('the end of the thread', async () => (await run(box, 'late.is_alive()')).text === 'False')
})

test('4 an object that cannot show itself', async () => {
  const { error } = await box.runCode('class Bad:\n    def __repr__(self): raise RuntimeError("no repr")\nBad()')
  assert.ok(error === undefined || error.name === 'RuntimeError')
  await box.runCode('class Worse:\n    def __repr__(self): raise KeyboardInterrupt\n    _repr_html_ = __repr__\nWorse()')
  await box.runCode('class Odd:\n    def __repr__(self): return 3\nOdd()')
  await box.runCode('class Endless:\n    def __getattr__(self, name): return Endless()\nEndless()')
})

test('4.1 an error that cannot show itself', async () => {
  const { error } = await box.runCode('class Bad(Exception):\n    def __str__(self): raise RuntimeError\nraise Bad')
  assert.equal(error.name, 'Bad')
})

test('3 a cell that spoils what the runner stands on', needs('restartCodeContext'), async () => {
  await box.runCode('import builtins, json, sys, os\njson.dumps = None; os.write = None; sys.modules.clear()')
  await box.restartCodeContext((await box.listCodeContexts()).find(({ language }) => language === 'python'))
})

test('3 signals from inside are no danger', async () => {
  await box.runCode('import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(1)')
  await box.runCode('import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)')
  await assert.rejects(box.runCode('import time; time.sleep(300)', { timeoutMs: 1_000 }), e2b.TimeoutError)
  await until('the next cell', async () => (await box.runCode('1', { timeoutMs: 60_000 })).text === '1')
})

for (const [how, does] of [['', 'time.sleep(1)'], ['prints for ever and ', "print('here'); time.sleep(0.01)"]]) {
  test(`3.3 a cell that ${how}catches every interrupt is killed in the end`, async () => {
    const code = `
import time
kept = True
while True:
    try: ${does}
    except BaseException: pass`
    await assert.rejects(box.runCode(code, { timeoutMs: 1_500 }), e2b.TimeoutError)
    const { error } = await box.runCode('kept', { timeoutMs: 60_000 })
    assert.equal(error?.name, 'NameError', 'a new runner')
  })
}

test('3.4 a cell that takes all memory', async () => {
  const { error } = await box.runCode('hoard = []\nwhile True: hoard.append(bytearray(16 << 20))', { timeoutMs: 120_000 })
  assert.ok(['MemoryError', 'ContextRestarting'].includes(error?.name), error?.name)
  if (error.name === 'MemoryError') await run(box, 'hoard.clear()')
  assert.equal(await box.isRunning(), true)
})

test('3.4 a runner that is killed from outside', async () => {
  const { running } = await begin(box, 'import os, time\nopen("/tmp/pid", "w").write(str(os.getpid()))\nprint("begun")\ntime.sleep(300)')
  await box.commands.run('kill -9 $(cat /tmp/pid)', { user: 'root' })
  assert.equal((await running).error?.name, 'ContextRestarting')
})

test('3.4 a runner that dies between cells', async () => {
  await run(box, 'import os, threading\nthreading.Timer(0.2, lambda: os._exit(3)).start()')
  await new Promise((resolve) => setTimeout(resolve, 1_000))
})
