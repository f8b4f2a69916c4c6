// Cases that say which public methods of the client they cover, and are held to it.
import assert from 'node:assert/strict'
import { test as plain } from 'node:test'

const classes = new Map()
const called = new Set()

/**
 * A case of Node's own test runner. `covers` names methods and getters, as in `Commands.run`: the case fails if it does not
 * call them, and is skipped if the client is too old to have them.
 */
export function test(name, options, body) {
  if (typeof options === 'function') return test(name, {}, options)
  const { covers = [], ...rest } = options
  return plain(name, rest, async (context) => {
    const missing = covers.filter(isMissing)
    if (missing.length > 0) return context.skip(`no ${missing}`)
    if (covers.length > 0) context.diagnostic(`covers ${covers.join(' ')}`)
    called.clear()
    await body(context)
    assert.deepEqual(covers.filter((method) => !called.has(method)), [], 'said to be covered but not called')
  })
}

/** Of a class no object was seen yet, it may have anything; but git, volumes and secrets, which old clients do not know at all. */
function isMissing(method) {
  const [kind, member] = method.split('.')
  if (!classes.has(kind)) return ['Git', 'Volume', 'Secret'].includes(kind)
  return !(member in classes.get(kind).prototype) && !(member in classes.get(kind))
}

/** The classes seen so far, by the names they have in the client's own documentation. */
export const seen = () => classes

/** Takes note of every call on this sandbox from now on, and on the handles that its methods give. */
export function observe(sandbox) {
  note('Commands', sandbox.commands)
  note('Pty', sandbox.pty)
  note('Filesystem', sandbox.files)
  if (sandbox.git) note('Git', sandbox.git)
}

/** The same for one class, under the name it has in documentation. */
export function note(kind, object) {
  if (classes.has(kind)) return
  classes.set(kind, object.constructor)
  wrap(kind, object.constructor.prototype)
  wrap(kind, object.constructor)
}

/** Methods of objects, or those of the class itself. */
function wrap(kind, holder) {
  for (const member of Object.getOwnPropertyNames(holder)) {
    const { value, get, configurable } = Object.getOwnPropertyDescriptor(holder, member)
    if (member === 'constructor' || !configurable || (typeof value !== 'function' && !get)) continue
    const wrapped = (original) =>
      function (...args) {
        called.add(`${kind}.${member}`)
        const result = original.apply(this, args)
        if (typeof result?.then === 'function') result.then(noteHandle, () => {})
        return result
      }
    Object.defineProperty(holder, member, {
      configurable: true,
      ...(get ? { get: wrapped(get) } : { writable: true, value: wrapped(value) }),
    })
  }
}

function noteHandle(result) {
  if (typeof result?.disconnect === 'function') note('CommandHandle', result)
  if (typeof result?.stop === 'function') note('WatchHandle', result)
}
