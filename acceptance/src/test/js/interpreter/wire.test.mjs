// The bytes themselves, as other clients than the one under test rely on them too.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from '../cases.mjs'
import { until } from '../client.mjs'
import { begin, isOpen, run, waitFor } from './client.mjs'
import { sandbox } from './sandboxes.mjs'
import { ask, call, execute, ofType, parse } from './wire.mjs'

let box
before(async () => {
  box = await sandbox()
})

const types = (lines) => lines.map(({ type }) => type).filter((type) => type !== 'keepalive')

test('2 health is the word OK, also from inside', async () => {
  const { status, body } = await ask(box, 'GET', '/health', { headers: { 'X-Access-Token': null } })
  assert.deepEqual([status, body], [200, '"OK"'])
  const inside = await box.commands.run("curl -s -o /dev/null -w '%{http_code}' http://0.0.0.0:49999/health")
  assert.equal(inside.stdout, '200')
})

test('3.1 lines of a run, from its number to its end', async () => {
  const { status, lines } = await execute(box, 'import sys\nprint("a")\nprint("b", file=sys.stderr)\ndisplay(1)\n2')
  assert.equal(status, 200)
  assert.deepEqual(types(lines), ['number_of_executions', 'stdout', 'stderr', 'result', 'result', 'end_of_execution'])
  assert.equal(typeof lines[0].execution_count, 'number')
  assert.deepEqual(lines.at(-1), { type: 'end_of_execution' })
  const failed = await execute(box, 'print("a")\n1 / 0')
  assert.deepEqual(types(failed.lines), ['number_of_executions', 'stdout', 'error', 'end_of_execution'])
  assert.deepEqual(Object.keys(failed.lines[2]).sort(), ['name', 'traceback', 'type', 'value'])
})

test('3.1 what is printed has a time', async () => {
  const { lines } = await execute(box, 'import sys; print("a"); print("b", file=sys.stderr)')
  for (const line of [...ofType(lines, 'stdout'), ...ofType(lines, 'stderr')]) {
    assert.match(line.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)
    assert.ok(Math.abs(Date.parse(line.timestamp) - Date.now()) < 600_000)
  }
})

test('3.1 lines are pure ASCII, whatever is in them', async () => {
  const odd = 'ünï ☃ 😀 \\u2028 \\u2029 \\x85 \\x0b\\x0c\\x1c\\x1d\\x1e \\x00 \\ud83d'
  const { raw, lines } = await execute(box, `
import sys
sys.stdout.write("${odd}".encode('utf-8', 'replace').decode()); sys.stderr.write("ö\\u2028")
display({'text/plain': "${odd.replace('\\ud83d', '')}", 'application/json': {"ü\\u2028": "\\u2029"}, 'x/y': '\\u2028'}, raw=True)
raise ValueError("ö\\u2028\\u2029")`)
  for (const byte of raw) assert.ok(byte === 0x0a || (byte >= 0x20 && byte <= 0x7f), `byte ${byte}`)
  assert.match(ofType(lines, 'stdout')[0].text, /^ünï ☃ 😀 \u2028 \u2029 \u0085 \u000b\u000c\u001c\u001d\u001e \u0000/)
  assert.equal(ofType(lines, 'stderr')[0].text, 'ö\u2028')
  assert.deepEqual(ofType(lines, 'result')[0].json, { 'ü\u2028': '\u2029' })
  assert.equal(ofType(lines, 'error')[0].value, 'ö\u2028\u2029')
})

test('3.1 the head of the answer comes at once, and a silent run is kept alive', async () => {
  const answer = await call(box, 'POST', '/execute', { body: { code: 'import time; time.sleep(11.5)' } })
  assert.equal(answer.statusCode, 200)
  const start = Date.now()
  const pieces = []
  for await (const piece of answer) pieces.push(piece)
  assert.ok(Date.now() - start > 9_000, 'the head came before the end')
  const lines = parse(Buffer.concat(pieces))
  const beats = ofType(lines, 'keepalive')
  assert.ok(beats.length >= 2 && beats.length <= (Date.now() - start) / 5_000, `${beats.length}`)
  assert.deepEqual(beats[0], { type: 'keepalive' })
  assert.equal(lines.at(-1).type, 'end_of_execution')
})

test('3.1 the head of the answer comes while the cell waits for its turn', async () => {
  const { running } = await begin(box, waitFor('/tmp/head-waits'))
  const answer = await call(box, 'POST', '/execute', { body: { code: '1' } })
  assert.equal(answer.statusCode, 200)
  assert.ok(await isOpen(running))
  await box.files.write('/tmp/head-waits', '')
  const pieces = []
  for await (const piece of answer) pieces.push(piece)
  assert.deepEqual(types(parse(Buffer.concat(pieces))), ['number_of_executions', 'result', 'end_of_execution'])
  await running
})

test('3.1 a result has no nulls but those inside of charts, and no fields of its own', async () => {
  const { lines } = await execute(box, 'import matplotlib.pyplot as plt\nplt.plot([0, 1], [1, 3])\nplt.show()')
  const [result] = ofType(lines, 'result')
  const known = ['type', 'text', 'png', 'chart', 'extra', 'is_main_result']
  assert.deepEqual(Object.keys(result).filter((key) => !known.includes(key)), [])
  assert.ok(Object.values(result).every((value) => value !== null))
  assert.equal(result.is_main_result, false)
  assert.deepEqual(result.extra, {})
  const { chart } = result
  for (const key of ['title', 'x_label', 'y_label', 'x_unit', 'y_unit']) assert.equal(chart[key], null, key)
  const keys = ['type', 'title', 'elements', 'x_label', 'y_label', 'x_unit', 'y_unit', 'x_ticks', 'x_tick_labels', 'x_scale', 'y_ticks',
    'y_tick_labels', 'y_scale']
  assert.deepEqual(Object.keys(chart).sort(), keys.sort())
})

test('3 nulls are as good as nothing', async () => {
  const { status, lines } = await execute(box, { code: '6 * 7', context_id: null, language: null, env_vars: null })
  assert.equal(status, 200)
  assert.equal(ofType(lines, 'result')[0].text, '42')
  const { status: made, body } = await ask(box, 'POST', '/contexts', { body: { language: null, cwd: null } })
  assert.equal(made, 200)
  assert.equal(JSON.parse(body).language, 'python')
  assert.equal(JSON.parse(body).cwd, '/home/user')
})

test('3 a body that cannot be read is refused with 422', async () => {
  for (const body of ['{}', '{"code": null}', '{"code": ["1"]}', '{"code": 1}', '{"code": true}', '{"code": "1", "env_vars": ["x"]}', '[]', 'null', '', 'code', '{"code"']) {
    const answer = await ask(box, 'POST', '/execute', { body })
    assert.equal(answer.status, 422, body)
    assert.ok('detail' in JSON.parse(answer.body), body)
  }
  assert.equal((await run(box, '1 + 1')).text, '2')
})

test('3 unknown fields are no obstacle', async () => {
  const { lines } = await execute(box, { code: '6 * 7', something: { else: 1 } })
  assert.equal(ofType(lines, 'result')[0].text, '42')
})

test('3 context and language together are refused with 400', async () => {
  const { id } = await box.createCodeContext()
  const { status } = await ask(box, 'POST', '/execute', { body: { code: '1', context_id: id, language: 'python' } })
  assert.equal(status, 400)
})

test('2 what is not there is answered with 404 and its name', async () => {
  const expected = [404, 'Context nobody not found']
  const plain = ({ status, body }) => [status, body]
  assert.deepEqual(plain(await ask(box, 'POST', '/execute', { body: { code: '1', context_id: 'nobody' } })), expected)
  assert.deepEqual(plain(await ask(box, 'POST', '/contexts/nobody/restart')), expected)
  assert.deepEqual(plain(await ask(box, 'DELETE', '/contexts/nobody')), expected)
})

test('2 what cannot be made is answered with 500 and why', async () => {
  const language = await ask(box, 'POST', '/contexts', { body: { language: 'cobol' } })
  assert.equal(language.status, 500)
  assert.match(language.body, /^Failed to create context/)
  assert.equal((await ask(box, 'POST', '/execute', { body: { code: '1', language: 'cobol' } })).status, 500)
  const cwd = await ask(box, 'POST', '/contexts', { body: { language: 'bash', cwd: '/no/such/place' } })
  assert.equal(cwd.status, 500)
  assert.match(cwd.body, /^Failed to set working directory/)
})

test('2 restart and remove answer null', async () => {
  const { id } = await box.createCodeContext()
  for (const [method, path] of [['POST', `/contexts/${id}/restart`], ['DELETE', `/contexts/${id}`]]) {
    const { status, body } = await ask(box, method, path)
    assert.deepEqual([status, body], [200, 'null'])
  }
})

test('1 execute wants the access token of a secured sandbox, contexts do not', async () => {
  const without = { 'X-Access-Token': null }
  assert.equal((await ask(box, 'POST', '/execute', { body: { code: '1' }, headers: without })).status, 401)
  assert.equal((await ask(box, 'POST', '/execute', { body: { code: '1' }, headers: { 'X-Access-Token': 'wrong' } })).status, 401)
  const { status, body } = await ask(box, 'POST', '/contexts', { body: {}, headers: without })
  assert.equal(status, 200)
  const { id } = JSON.parse(body)
  assert.equal((await ask(box, 'GET', '/contexts', { headers: without })).status, 200)
  assert.equal((await ask(box, 'POST', `/contexts/${id}/restart`, { headers: without })).status, 200)
  assert.equal((await ask(box, 'DELETE', `/contexts/${id}`, { headers: without })).status, 200)
})

test('1 code inside the sandbox may execute as it is', async () => {
  const { stdout } = await box.commands.run(
    `curl -s http://localhost:49999/execute -H 'Content-Type: application/json' -d '{"code": "6 * 7"}'`)
  assert.equal(ofType(parse(Buffer.from(stdout)), 'result')[0].text, '42')
})

test("1 code in another sandbox needs this one's token, as everybody does who comes through the edge", async () => {
  const other = await sandbox()
  const status = async (from, token) => {
    const shown = token ? `-H 'X-Access-Token: ${token}'` : ''
    const asked = await from.commands.run(`curl -sk -m 60 -o /tmp/answer -w '%{http_code}' ${shown} \
      -H 'Content-Type: application/json' -d '{"code": "6 * 7"}' https://${box.getHost(49999)}/execute`)
    return asked.stdout
  }
  assert.equal(await status(other), '401')
  assert.equal(await status(other, other.envdAccessToken), '401')
  assert.equal(await status(box), '401')
  assert.equal(await status(other, box.envdAccessToken), '200')
  assert.equal(ofType(parse(Buffer.from(await other.files.read('/tmp/answer'))), 'result')[0].text, '42')
})

test('1 with public traffic off, its token is wanted everywhere', async () => {
  const one = await sandbox({ secure: true, network: { allowPublicTraffic: false } })
  assert.ok(one.trafficAccessToken)
  const without = { 'E2B-Traffic-Access-Token': null }
  assert.equal((await ask(one, 'GET', '/contexts', { headers: without })).status, 403)
  assert.equal((await ask(one, 'GET', '/health', { headers: without })).status, 403)
  assert.equal((await ask(one, 'GET', '/contexts', { headers: { 'X-Access-Token': null } })).status, 200)
  assert.equal(ofType((await execute(one, '1')).lines, 'result')[0].text, '1')
})

test('1 every origin may call', async () => {
  const { headers } = await ask(box, 'GET', '/health', { headers: { Origin: 'https://example.org' } })
  assert.equal(headers['access-control-allow-origin'], '*')
  const preflight = await ask(box, 'OPTIONS', '/execute', {
    headers: {
      Origin: 'https://example.org',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-access-token,content-type',
      'X-Access-Token': null,
    },
  })
  assert.ok([200, 204].includes(preflight.status))
  assert.match(preflight.headers['access-control-allow-headers'], /x-access-token|\*/i)
})

test('3.3 a client that closes its connection interrupts its cell', async () => {
  const answer = await call(box, 'POST', '/execute', {
    body: { code: `
import time
try:
    open('/tmp/runs', 'w').close()
    time.sleep(300)
except KeyboardInterrupt:
    open('/tmp/interrupted', 'w').close()
    raise` },
  })
  answer.on('error', () => {})
  await until('its beginning', () => box.files.exists('/tmp/runs'))
  answer.destroy()
  await until('the interrupt', () => box.files.exists('/tmp/interrupted'))
  assert.equal((await run(box, '1 + 1')).text, '2')
})

test('3.5 values that are no texts, and names that are none, are refused', async () => {
  for (const env_vars of [{ 'A=B': 'x' }, { '': 'x' }, { A: 'nul\u0000' }, { A: null }]) {
    const { status } = await ask(box, 'POST', '/execute', { body: { code: '1', env_vars } })
    assert.ok([400, 422].includes(status), `${status} for ${JSON.stringify(env_vars)}`)
  }
})
