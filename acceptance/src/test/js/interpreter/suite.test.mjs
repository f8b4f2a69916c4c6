// What the client's own makers test it with, in our words.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from '../cases.mjs'
import { e2b, until } from '../client.mjs'
import { Sandbox, isNew, printed, run } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
})

test('7 basic: a value comes back', async () => {
  assert.equal((await run(box, 'x =1; x')).text, '1')
})

test('7 bash: a shell command in a python cell', async () => {
  assert.equal(printed(await run(box, '!pwd')).trim(), '/home/user')
})

test('7 callbacks: one for each thing', async () => {
  const heard = { results: [], errors: [], out: [], err: [] }
  const options = {
    onResult: (result) => { heard.results.push(result.text) },
    onError: (error) => { heard.errors.push(error.name) },
    onStdout: ({ line, error, timestamp }) => { heard.out.push([line, error, typeof timestamp]) },
    onStderr: ({ line, error }) => { heard.err.push([line, error]) },
  }
  await box.runCode('x = 1;x', options)
  await box.runCode('print("hello")', options)
  await box.runCode('import sys;print("This is an error message", file=sys.stderr)', options)
  await box.runCode('xyz', options)
  assert.deepEqual(heard, {
    results: ['1'],
    errors: ['NameError'],
    out: [['hello\n', false, 'number']],
    err: [['This is an error message\n', true]],
  })
})

test('7 cwd: python prints it', async () => {
  assert.equal(printed(await run(box, 'from pathlib import Path\nprint(Path.cwd())')).trim(), '/home/user')
})

test('7 data: a column of three', async () => {
  const { results } = await run(box, "import pandas as pd\npd.DataFrame({'a': [1, 2, 3]})")
  assert.equal(results[0].data.a.length, 3)
})

test('7 default kernels: javascript, modules, awaiting, typescript, r, java', async () => {
  assert.deepEqual((await run(box, 'console.log("Hello, World!")', { language: 'js' })).logs.stdout, ['Hello, World!\n'])
  const imported = await run(box, "import { readFileSync } from 'fs'\nconsole.log(typeof readFileSync)", { language: 'js' })
  assert.deepEqual(imported.logs.stdout, ['function\n'])
  assert.equal((await run(box, "await Promise.resolve('Hello World!')", { language: 'js' })).text, 'Hello World!')
  const typed = await run(box, 'const message: string = "Hello, World!"; console.log(message)', { language: 'ts' })
  assert.deepEqual(typed.logs.stdout, ['Hello, World!\n'])
  const there = await box.files.read('/opt/cay/languages')
  if (/^r$/m.test(there)) {
    assert.deepEqual((await run(box, 'print("Hello, World!")', { language: 'r' })).logs.stdout, ['[1] "Hello, World!"\n'])
  }
  if (/^java$/m.test(there)) {
    assert.equal((await run(box, 'System.out.println("Hello, World!")', { language: 'java' })).logs.stdout[0], 'Hello, World!')
  }
})

test('7 display data: a picture, a text, nothing more', async () => {
  const { results } = await run(box, 'import matplotlib.pyplot as plt\nplt.plot([1, 2, 3, 4])\nplt.ylabel("numbers")\nplt.show()')
  assert.ok(results[0].png)
  assert.ok(results[0].text)
  assert.deepEqual(results[0].extra, {})
})

test('7 execution count: the second call is number two', async () => {
  const one = await sandbox()
  await one.runCode('echo "nonsense"')
  assert.equal((await one.runCode('!pwd')).executionCount, 2)
})

test('7 images: show, last expression, save', async () => {
  const image = "import numpy\nfrom PIL import Image\nimage = Image.fromarray(numpy.tile(numpy.linspace(0, 255, 256), (256, 1)).astype('uint8'))\n"
  for (const last of ['image.show()', 'image', 'image.save("test.png")']) {
    assert.ok((await run(box, image + last)).results[0].png, last)
  }
})

test('7 interrupt: after a timeout and five seconds the next cell has ten', async () => {
  const one = await sandbox()
  await run(one, 'x = 42')
  await assert.rejects(one.runCode('import time; time.sleep(300)', { timeoutMs: 3_000 }), e2b.TimeoutError)
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  assert.equal((await run(one, '1 + 1', { timeoutMs: 10_000 })).text, '2')
  assert.equal((await run(one, 'x', { timeoutMs: 10_000 })).text, '42')
})

test('7 kernels: a new context knows nothing of the default one', async () => {
  await run(box, 'test = 1')
  const context = await box.createCodeContext()
  assert.equal((await box.runCode('test', { context })).error.value, "name 'test' is not defined")
  await assert.rejects(box.runCode('1', { context, language: 'python' }), e2b.InvalidArgumentError)
})

test('7 killed sandbox: a timeout that says so', { skip: !isNew, timeout: 60_000 }, async () => {
  const one = await sandbox()
  const running = one.runCode('import time; time.sleep(60)', { timeoutMs: 0 })
  const rejected = assert.rejects(running, (error) => error instanceof e2b.TimeoutError && /sandbox was killed/.test(error.message))
  await until('its beginning', async () => (await one.commands.run('sleep 1; echo up')).stdout === 'up\n')
  await one.kill()
  await rejected
})

test('7 reconnect: by its id', async () => {
  const again = await Sandbox.connect(box.sandboxId)
  assert.equal((await run(again, 'x =1; x')).text, '1')
})

test('7 statefulness: variables stay', async () => {
  await run(box, 'x = 1')
  assert.equal((await run(box, 'x += 1; x')).text, '2')
})

test('7 streaming: one piece of each, two results of a plot and a value', async () => {
  const out = []
  await run(box, 'print(1)', { onStdout: ({ line }) => { out.push(line) } })
  assert.deepEqual(out, ['1\n'])
  const err = []
  await run(box, 'import sys\nprint(1, file=sys.stderr)', { onStderr: ({ line }) => { err.push(line) } })
  assert.deepEqual(err, ['1\n'])
  const results = []
  const code = 'import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n\nx = 1\nx'
  await run(box, code, { onResult: (result) => { results.push(result) } })
  assert.equal(results.length, 2)
})

test('7 systemd: health is back after what users may kill', async () => {
  for (const name of ['jupyter server', 'uvicorn main:app']) {
    await box.commands.run(`kill -9 $(pgrep -f '${name}' | grep -v ^$$\\$) 2>/dev/null || true`, { user: 'root' })
    await until('health', async () => {
      const { stdout } = await box.commands.run("curl -s -o /dev/null -w '%{http_code}' http://0.0.0.0:49999/health || true")
      return stdout === '200'
    })
    assert.equal((await run(box, 'x = 1; x')).text, '1')
  }
})

test('7 runtimes: a sandbox of five seconds', async () => {
  const one = await sandbox({ timeoutMs: 5_000 })
  // A busy machine takes longer for the first cell.
  await one.setTimeout(60_000)
  assert.deepEqual((await run(one, 'print("Hello, World!")')).logs.stdout, ['Hello, World!\n'])
})

test('7 env vars: of the sandbox, of one execution, of both', async () => {
  const one = await sandbox({ envs: { TEST_ENV_VAR: 'supertest' } })
  const show = 'import os; os.getenv("TEST_ENV_VAR", "default")'
  assert.equal((await run(one, show)).results[0].text.trim(), 'supertest')
  assert.equal((await run(one, show, { envs: { TEST_ENV_VAR: 'overwrite' } })).results[0].text.trim(), 'overwrite')
  assert.equal((await run(one, show)).results[0].text.trim(), 'supertest')
  assert.equal((await run(box, show, { envs: { TEST_ENV_VAR: 'bar' } })).results[0].text.trim(), 'bar')
  assert.equal((await run(box, show)).results[0].text.trim(), 'default')
})

test('7 env vars: in r as it prints them', async (context) => {
  if (!/^r$/m.test(await box.files.read('/opt/cay/languages'))) return context.skip('no r')
  const { results } = await run(box, 'Sys.getenv("FOO")', { language: 'r', envs: { FOO: 'bar' } })
  assert.equal(results[0].text, '[1] "bar"')
})
