// Says which public methods the installed client has, for the harness to compare with what the cases cover.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { e2b, require } from './client.mjs'
import { sandbox } from './sandboxes.mjs'
import { note, seen } from './cases.mjs'

const KINDS = ['Commands', 'Pty', 'Filesystem', 'Git', 'CommandHandle', 'WatchHandle', 'Volume', 'Secret']

test('the client tells its public methods', async (context) => {
  const box = await sandbox()
  await (await box.commands.run('true', { background: true })).wait()
  await (await box.files.watchDir('/tmp', () => {})).stop()
  if (e2b.Volume) note('Volume', new e2b.Volume('id', 'name', 'token'))
  if (e2b.Secret) note('Secret', new e2b.Secret())
  const kinds = KINDS.filter((kind) => (kind !== 'Git' || box.git) && (!['Volume', 'Secret'].includes(kind) || e2b[kind]))
  assert.deepEqual([...seen().keys()].sort(), kinds.toSorted())
  for (const kind of kinds) {
    const methods = publicMembers(kind, seen().get(kind))
    assert.ok(methods.length > 0)
    context.diagnostic(`has ${methods.map((method) => `${kind}.${method}`).join(' ')}`)
  }
})

/** What is there when the client runs, less what its declarations call private. */
function publicMembers(kind, made) {
  const own = [made.prototype, made].flatMap((holder) => Object.entries(Object.getOwnPropertyDescriptors(holder)))
  const members = own.filter(([, { value, get }]) => get || typeof value === 'function').map(([name]) => name)
  const hidden = new Set(['constructor', 'prototype', ...privateMembers(kind)])
  return members.filter((name) => !hidden.has(name))
}

function privateMembers(kind) {
  const declarations = readFileSync(require.resolve('e2b').replace(/\.js$/, '.d.ts'), 'utf8')
  const start = declarations.search(new RegExp(`^declare class ${kind} `, 'm'))
  assert.ok(start >= 0, `no declaration of ${kind}`)
  const body = declarations.slice(start, declarations.indexOf('\n}', start))
  return [...body.matchAll(/^ +(?:private|protected) (?:static )?(?:readonly )?(\w+)/gm)].map(([, name]) => name)
}
