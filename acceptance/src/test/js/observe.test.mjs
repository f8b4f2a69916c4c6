import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sandbox, atLeast, until } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

const api = process.env.E2B_API_URL ?? `https://api.${process.env.E2B_DOMAIN}`

/** A call of the API that this client has no method for. */
async function get(path) {
  const answer = await fetch(api + path, { headers: { 'X-API-Key': process.env.E2B_API_KEY } })
  return { status: answer.status, body: await answer.json() }
}

test('Sandbox.getMetrics tells what the sandbox uses', { skip: !atLeast(1, 11) }, async () => {
  const made = await sandbox()
  const [first] = await until('a reading', async () => {
    const metrics = await made.getMetrics()
    return metrics.length > 0 && metrics
  })
  assert.ok(first.timestamp instanceof Date && Math.abs(first.timestamp - Date.now()) < 60_000)
  assert.equal(first.cpuCount, 2)
  assert.ok(first.cpuUsedPct >= 0 && first.cpuUsedPct <= 100)
  assert.ok(first.memUsed > 0 && first.memUsed < first.memTotal)
  assert.ok(first.diskTotal > 0)
})

test('Sandbox.getMetrics keeps to start and end', { skip: !atLeast(2, 11) }, async () => {
  const made = await sandbox()
  await until('a reading', async () => (await made.getMetrics()).length > 0)
  const hour = 3_600_000
  assert.deepEqual(await made.getMetrics({ start: new Date(Date.now() + hour) }), [])
  assert.deepEqual(await made.getMetrics({ end: new Date(Date.now() - hour) }), [])
  assert.ok((await made.getMetrics({ start: new Date(Date.now() - hour), end: new Date(Date.now() + hour) })).length > 0)
})

test('metrics of several sandboxes, of the team, and of one that was killed', { skip: !atLeast(1, 11) }, async () => {
  const made = await sandbox()
  await until('a reading', async () => (await made.getMetrics()).length > 0)
  const newest = await get(`/sandboxes/metrics?sandbox_ids=${made.sandboxId}`)
  assert.ok(newest.body.sandboxes[made.sandboxId].memUsed > 0)
  await made.kill()
  assert.ok((await Sandbox.getMetrics(made.sandboxId)).length > 0)
  const team = (await get('/teams')).body[0].teamID
  const most = await until('a count', async () => {
    const { body } = await get(`/teams/${team}/metrics/max?metric=concurrent_sandboxes`)
    return body.value > 0 && body
  })
  assert.ok(most.timestampUnix > 0)
})

test('lifecycle events of a sandbox, paged and filtered', async () => {
  const made = await sandbox({ metadata: { purpose: 'events' } })
  await made.setTimeout(90_000)
  await made.kill()
  const { body: all } = await get(`/events/sandboxes/${made.sandboxId}?orderAsc=true`)
  const types = all.map((event) => event.type.replace('sandbox.lifecycle.', ''))
  assert.deepEqual(types, ['created', 'updated', 'killed'])
  assert.equal(all[0].eventData.sandbox_metadata.purpose, 'events')
  assert.equal(all[2].eventData.kill_reason, 'request')
  const page = await get(`/events/sandboxes/${made.sandboxId}?limit=1&offset=1`)
  assert.equal(page.body[0].type, 'sandbox.lifecycle.updated')
  const killed = await get('/events/sandboxes?types=sandbox.lifecycle.killed&limit=100')
  assert.ok(killed.body.some((event) => event.sandboxId === made.sandboxId))
})

test('logs tell commands and file changes, not output and no value of a variable', async () => {
  const made = await sandbox({ envs: { API_TOKEN: 'token-4711-secret' } })
  await made.commands.run('echo "$API_TOKEN" token-4711-secret')
  await made.files.write('/tmp/note.txt', 'content-of-the-note')
  await made.kill()
  const { body } = await get(`/v2/sandboxes/${made.sandboxId}/logs?direction=forward`)
  const messages = body.logs.map((line) => line.message)
  for (const wanted of ['Sandbox created', 'Process started', 'Process ended', 'File written', 'Sandbox killed: request'])
    assert.ok(messages.includes(wanted), `${wanted} in ${messages}`)
  const started = body.logs.find((line) => line.message === 'Process started')
  assert.match(started.fields.command, /^echo "\$API_TOKEN"/)
  assert.equal(started.fields.user, 'user')
  assert.doesNotMatch(JSON.stringify(body), /4711|content-of/)
  const search = await get(`/v2/sandboxes/${made.sandboxId}/logs?search=note.txt`)
  assert.deepEqual(search.body.logs.map((line) => line.message), ['File written'])
})
