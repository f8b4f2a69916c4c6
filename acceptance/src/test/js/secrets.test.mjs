import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { e2b } from './client.mjs'

const { Secret, SecretNotFoundError } = e2b
const skip = !Secret

test('Secret.create, getInfo, update, exists and destroy', { skip }, async () => {
  const name = `Key-${randomUUID()}`
  const made = await Secret.create(name, 'sk-first', { metadata: { owner: 'tests' } })
  assert.match(made.secretId, /^sec_/)
  assert.equal(made.name, name.toLowerCase())
  assert.equal(made.version, 1)
  assert.deepEqual(made.metadata, { owner: 'tests' })
  assert.ok(made.createdAt instanceof Date)
  assert.deepEqual(await Secret.getInfo(made.secretId), await Secret.getInfo(name))

  const kept = await Secret.update(name, 'sk-second')
  assert.equal(kept.version, 2)
  assert.deepEqual(kept.metadata, { owner: 'tests' })
  assert.deepEqual((await Secret.update(made.secretId, 'sk-third', { metadata: {} })).metadata, {})
  assert.ok(!JSON.stringify(await Secret.getInfo(name)).includes('sk-'))

  assert.equal(await Secret.exists(name), true)
  assert.equal(await Secret.destroy(name), true)
  assert.equal(await Secret.destroy(name), false)
  assert.equal(await Secret.exists(name), false)
  await assert.rejects(Secret.getInfo(name), SecretNotFoundError)
})

test('Secret.list gives all pages', { skip }, async () => {
  const names = Array.from({ length: 3 }, () => randomUUID())
  for (const name of names) await Secret.create(name, 'value')
  try {
    const found = []
    const pages = Secret.list({ limit: 2 })
    while (pages.hasNext) found.push(...(await pages.nextItems()).map(({ name }) => name))
    for (const name of names) assert.ok(found.includes(name))
  } finally {
    for (const name of names) await Secret.destroy(name)
  }
})

test('a secret with a name that is taken or wrong is refused', { skip }, async () => {
  const name = randomUUID()
  await Secret.create(name, 'value')
  try {
    await assert.rejects(Secret.create(name, 'value'), /already exists/)
    await assert.rejects(Secret.create('a b', 'value'), /'name' must be/)
    await assert.rejects(Secret.create('sec_x', 'value'), /sec_/)
  } finally {
    await Secret.destroy(name)
  }
})
