// What people do with sandboxes and templates on the pages of the dashboard.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Sandbox, until } from './client.mjs'
import { api, done, HOSTILE, LIMIT, look, row, screen, shows, signedIn } from './dashboard.mjs'

const { CAY_RESTART, E2B_API_KEY } = process.env

test('a cell draws a chart and a table; what it prints is text', async () => {
  const sandbox = await Sandbox.create('code-interpreter-v1', { timeoutMs: 900_000 })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/code`)
  const cell = (number) => page.locator('.cell').nth(number)
  await page.fill('.source', `import matplotlib.pyplot as plt
plt.plot(['Jan', 'Feb', 'Mar'], [12, 19, 17], label='this year')
plt.plot(['Jan', 'Feb', 'Mar'], [10, 14, 15], label='${HOSTILE.replaceAll('"', '')}')
plt.title('Orders')
plt.show()`)
  await page.keyboard.press('Shift+Enter')
  await cell(0).locator('.drawing polyline').nth(1).waitFor()
  assert.match(await cell(0).locator('.drawing').innerText(), /Orders[^]*Jan[^]*this year[^]*<img src=x/)
  // The picture that came with it is the other view.
  await cell(0).locator('.views >> text=Picture').click()
  await until('the picture', () => cell(0).locator('.shown img').evaluate((image) => image.naturalWidth > 100), LIMIT)

  // The next cell has the focus, and knows what the first one did.
  await page.keyboard.press('Tab')
  await cell(1).locator('.source').fill(`import pandas as pd
print(len(plt.get_fignums()), '${HOSTILE}', '\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07end')
pd.DataFrame({'city': ['Oslo', '<b>Rome</b>'], 'people': [709037, 2748109]})`)
  await page.keyboard.press('Control+Enter')
  await cell(1).locator('td >> text=<b>Rome</b>').waitFor()
  await shows(cell(1), '<img src=x')
  await shows(cell(1), 'red end')
  assert.equal(await cell(1).locator('.shown img, .shown b').count(), 0)

  // A cell that goes on is stopped, and the next one runs.
  await page.click('#new-cell')
  await cell(2).locator('.source').fill('import time\nprint("began", flush=True)\ntime.sleep(600)')
  await page.keyboard.press('Control+Enter')
  await shows(cell(2), 'began')
  await cell(2).locator('text=Stop').click()
  await shows(cell(2), 'You stopped this cell')
  await cell(2).locator('.source').fill('1/0')
  await page.keyboard.press('Control+Enter')
  await shows(cell(2), 'ZeroDivisionError')
  await cell(2).locator('select').selectOption('bash')
  await cell(2).locator('.source').fill('echo $((6 * 7)) && pwd')
  await page.keyboard.press('Control+Enter')
  await shows(cell(2), '42\n/home/user')
  // The code stays when the page is loaded again.
  await page.reload()
  await page.waitForSelector('.source')
  assert.equal(await cell(2).locator('.source').inputValue(), 'echo $((6 * 7)) && pwd')
  assert.match(await page.title(), /Cay$/)
  await sandbox.kill()
  await done(page)
})

test('cells run in each of the six languages', async () => {
  const sandbox = await Sandbox.create('code-interpreter-v1', { timeoutMs: 900_000 })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/code`)
  const cell = (number) => page.locator('.cell').nth(number)
  // Each shows what it prints, and all but Bash the value of its last line. No text is in the code as it is in the output.
  const cells = [
    ['python', "print('py' + 'thon prints')\n6 * 7 * 11", ['python prints', '462']],
    ['javascript', "console.log('java' + 'script prints')\n6 * 7 * 12", ['javascript prints', '504']],
    ['typescript', "const word: string = 'type' + 'script prints'\nconsole.log(word)\n6 * 7 * 13", ['typescript prints', '546']],
    ['r', 'cat(paste0("r pr", "ints\\n"))\n6 * 7 * 14', ['r prints', '588']],
    ['bash', 'word=bash\necho "$word prints $((6 * 7 * 15))"', ['bash prints 630']],
    ['java', 'System.out.println("java pr" + "ints");\n6 * 7 * 16', ['java prints', '672']],
  ]
  for (const [at, [language, code, texts]] of cells.entries()) {
    if (at > 0) await page.click('#new-cell')
    await cell(at).locator('select').selectOption(language)
    await cell(at).locator('.source').click()
    await page.keyboard.type(code)
    await page.keyboard.press('Control+Enter')
    for (const text of texts) await shows(cell(at).locator('.shown'), text)
    await cell(at).locator('text=Stop').waitFor({ state: 'detached' })
    assert.equal(await cell(at).locator('.shown .error').count(), 0, language)
  }
  // Each language keeps its own variables.
  await page.click('#new-cell')
  await cell(6).locator('select').selectOption('typescript')
  await cell(6).locator('.source').fill("word + ' again'")
  await page.keyboard.press('Control+Enter')
  await shows(cell(6).locator('.shown'), 'typescript prints again')
  await sandbox.kill()
  await done(page)
})

test('a template is built from a pasted Dockerfile, and its log is followed', async () => {
  const page = await signedIn(E2B_API_KEY, '/templates')
  await page.click('#create')
  await page.fill('input[name=name]', 'pasted')
  await page.fill('textarea[name=dockerfile]', 'FROM e2bdev/base\nRUNN echo wrong\n')
  await page.click('form button.primary')
  await shows(page.locator('.problem'), 'Dockerfile:2:1: unknown instruction RUNN')
  assert.equal(await page.evaluate(() => getSelection().toString()), 'RUNN echo wrong')
  // Nothing is left of what never began.
  assert.equal((await api('GET', '/templates/aliases/pasted')).status, 404)
  await page.fill('textarea[name=dockerfile]', 'FROM e2bdev/base\nCOPY here there\n')
  await page.click('form button.primary')
  await shows(page.locator('.problem'), 'cay template build')

  await page.fill('textarea[name=dockerfile]', `FROM e2bdev/base
ARG WHO=nobody
RUN echo "for $WHO '${HOSTILE}'" && printf '\\033[2J\\033[31mred\\033[0m\\n' && sleep 5 && echo later > made
`)
  await page.fill('textarea[name=buildArgs]', 'WHO=ann')
  await page.click('form button.primary')
  await page.waitForURL(/templates\/\w+\?build=/)
  const log = page.locator('.build-log')
  await shows(log, `for ann '<img src=x`)
  await shows(log, 'building')
  await log.locator('.state.ready').waitFor({ timeout: 2 * LIMIT })
  await shows(log, 'Build finished')
  assert.ok((await log.innerText()).includes(': red'))
  assert.equal(await log.locator('img').count(), 0)

  await page.click('text=Add a tag')
  await page.fill('input[name=tag]', 'stable')
  await page.click('dialog button.primary')
  await page.locator('.tag', { hasText: 'stable' }).waitFor()
  const sandbox = await Sandbox.create('pasted:stable', { timeoutMs: 600_000 })
  assert.equal(await sandbox.files.read('/home/user/made').catch(() => sandbox.files.read('/made')), 'later\n')
  await sandbox.kill()
  await page.click('[aria-label="Remove the tag stable"]')
  await page.locator('.tag', { hasText: 'stable' }).waitFor({ state: 'detached' })
  await page.click('text=Delete')
  await page.click('dialog button.danger')
  await page.waitForURL(/templates$/)
  assert.equal((await api('GET', '/templates/aliases/pasted')).status, 404)
  await done(page)
})

test('the tree of snapshots: a copy begins with one, a sandbox goes back to one, one is deleted', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 900_000 })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/snapshots`)
  const node = (name) => page.locator(`[data-snapshot*="${name}"] > .node`)
  const take = async (name) => {
    await page.fill('input[name=name]', name)
    await page.click('text=Take a snapshot')
    await node(name).waitFor()
  }
  await shows(page.locator('main'), 'No snapshot of this sandbox is kept')
  await sandbox.files.write('/home/user/state', 'one')
  await take('tree-one')
  await sandbox.files.write('/home/user/state', 'two')
  await take('tree-two')

  // A new sandbox from the first one hangs below it, and has the first content.
  await node('tree-one').locator('text=New sandbox').click()
  const child = page.locator('[data-snapshot*="tree-one"] [data-sandbox]')
  await child.waitFor()
  const copy = await Sandbox.connect(await child.getAttribute('data-sandbox'))
  assert.equal(await copy.files.read('/home/user/state'), 'one')
  // The page of the copy shows the same tree, with itself in it.
  await child.locator('a').click()
  await page.locator(`[data-snapshot*="tree-one"] [data-sandbox="${copy.sandboxId}"] .here`).waitFor()
  await page.locator(`[data-sandbox="${sandbox.sandboxId}"] > .node >> text=${sandbox.sandboxId}`).click()

  await node('tree-one').locator('text=Go back to it').click()
  await page.click('dialog button.danger')
  await until('the state of before', async () => (await sandbox.files.read('/home/user/state')) === 'one', LIMIT)
  await until('no work', async () => !(await node('tree-two').locator('button.danger').isDisabled()), LIMIT)
  await node('tree-two').locator('button.danger').click()
  await page.click('dialog button.danger')
  await node('tree-two').waitFor({ state: 'detached' })
  const { body } = await api('GET', '/snapshots?sandboxID=' + sandbox.sandboxId)
  assert.deepEqual(body.map(({ names }) => names[0].includes('tree-one')), [true])
  assert.equal(body[0].sandboxID, sandbox.sandboxId)
  await api('DELETE', '/templates/' + body[0].templateID)
  await copy.kill()
  await sandbox.kill()
  await done(page)
})

test('a refused host is allowed with one click', async () => {
  const { body } = await api('POST', '/v2/sandboxes', {
    templateID: 'base', timeout: 900, secure: true,
    network: { denyOut: ['0.0.0.0/0'], allowOut: ['allowed.example'] },
  })
  const sandbox = await Sandbox.connect(body.sandboxID)
  await sandbox.commands.run('curl -sS -m 5 --resolve refused.example:443:192.0.2.1 https://refused.example/ || true')
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/egress`)
  const line = page.locator('tr', { hasText: 'refused.example' })
  await line.locator('text=Allow').click()
  await until('the rule', async () =>
    (await api('GET', '/sandboxes/' + sandbox.sandboxId)).body.network.allowOut?.includes('refused.example'), LIMIT)
  await sandbox.kill()
  await done(page)
})

test('the operator sees the machine on the overview', async () => {
  const page = await signedIn(E2B_API_KEY, '/overview')
  const machine = page.locator('.machine')
  await shows(machine, 'Places for sandboxes')
  assert.match(await machine.innerText(), /Version\s+\d+\.\d+/)
  assert.match(await machine.innerText(), /Memory\s+[\d.]+ GiB of [\d.]+ GiB/)
  const { body } = await api('POST', '/api-keys', { name: 'looks', scope: 'read' })
  const reader = await signedIn(body.key, '/overview')
  await reader.waitForSelector('.tile')
  assert.equal(await reader.locator('.machine').count(), 0)
  await api('DELETE', '/api-keys/' + body.id)
  await done(reader)
  await done(page)
})

test('these pages are accessible, and look well in both schemes', async () => {
  const sandbox = await Sandbox.create('code-interpreter-v1', { timeoutMs: 900_000 })
  await api('POST', `/sandboxes/${sandbox.sandboxId}/snapshots`, { name: 'looked-at' })
  const base = (await api('GET', '/templates/aliases/base')).body.templateID
  const places = {
    code: `/sandboxes/${sandbox.sandboxId}/code`,
    snapshots: `/sandboxes/${sandbox.sandboxId}/snapshots`,
    'new-template': '/templates/new',
    template: '/templates/' + base,
  }
  const ready = {
    code: async (page) => {
      await page.fill('.source', `import matplotlib.pyplot as plt
plt.plot(['Jan', 'Feb', 'Mar', 'Apr'], [12, 19, 17, 28], label='this year')
plt.plot(['Jan', 'Feb', 'Mar', 'Apr'], [10, 14, 15, 20], label='last year')
plt.title('Orders')
plt.show()`)
      await page.keyboard.press('Control+Enter')
      // The interpreter may have to start on a busy machine.
      await page.waitForSelector('.drawing polyline', { timeout: 2 * LIMIT })
    },
    snapshots: (page) => page.waitForSelector('[data-snapshot]'),
    template: (page) => page.waitForSelector('[aria-label=Builds] tbody tr'),
  }
  await look(places, { ready, phones: ['code', 'snapshots', 'new-template'] })
  const { body } = await api('GET', '/snapshots?sandboxID=' + sandbox.sandboxId)
  await api('DELETE', '/templates/' + body[0].templateID)
  await sandbox.kill()
})

// The last one, as the others need the daemon that it kills.
test('a page with a terminal goes on when the daemon was killed and started again', async () => {
  const sandbox = await Sandbox.create({ timeoutMs: 900_000, metadata: { task: 'restart' } })
  const page = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/terminal`)
  await shows(screen(page), '$')
  await page.keyboard.type('MARK=$((40+2)); echo before-$MARK\n')
  await shows(screen(page), 'before-42')
  // Beside it, files that are followed, and a process whose output is. Each has a browser of its own: one has six connections.
  const files = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/files`)
  await files.waitForSelector('[data-id=".bashrc"]')
  const processes = await signedIn(E2B_API_KEY, `/sandboxes/${sandbox.sandboxId}/processes`)
  await processes.fill('input[name=command]', 'for i in $(seq 1000); do echo line-$i; sleep 1; done')
  await processes.keyboard.press('Enter')
  await shows(processes.locator('.output'), 'line-2\n')
  await page.bringToFront()
  await writeFile(CAY_RESTART, '')
  await page.waitForSelector('.banner', { timeout: 2 * LIMIT })
  await page.waitForSelector('.banner', { state: 'detached', timeout: 2 * LIMIT })
  // The same shell, on the same page, without a reload.
  await until('the shell', async () => {
    await page.locator('.xterm-screen').click()
    await page.keyboard.type('echo after-$MARK\n')
    await page.waitForTimeout(2000)
    return (await screen(page).innerText()).replaceAll('\u00a0', ' ').includes('after-42')
  }, 2 * LIMIT)
  await sandbox.files.write('/home/user/made-later', 'x')
  await files.waitForSelector('[data-id="made-later"]')
  const last = async () => Number((await processes.locator('.output').innerText()).match(/line-(\d+)\s*$/)?.[1] ?? 0)
  const reached = await last()
  await until('more output', async () => (await last()) > reached + 2, LIMIT)
  assert.match(await processes.locator('.output').innerText(), /^line-1\nline-2\n/)
  await done(files)
  await done(processes)
  await page.goto(page.url().replace(/\/dashboard.*/, '/dashboard'))
  await page.waitForSelector(row(sandbox))
  await sandbox.kill()
  await done(page)
})
