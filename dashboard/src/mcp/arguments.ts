// The arguments of a tool as fields of a form, by the schema that its server sent.
import { FieldError } from '../form'
import { json, list, text, tree } from './gateway'

const MOST_FIELDS = 60

export interface Argument {
  /** Of the field: a name from a schema could take the place of something that a form has. */
  field: string
  name: string
  kind: 'text' | 'number' | 'choice' | 'json'
  required: boolean
  hint: string
  initial: string
  /** Values of a choice. */
  values: unknown[]
}

const kindOf = (schema: Record<string, unknown>): string => {
  const type = schema['type']
  return text(Array.isArray(type) ? type.find((one) => one !== 'null') : type)
}

export const shown = (value: unknown): string => (typeof value === 'string' ? value : json(value))

/** Undefined if the schema is none that fields can show: the arguments are written as JSON then. */
export function argumentsOf(schema: Record<string, unknown>): Argument[] | undefined {
  const properties = Object.entries(tree(schema['properties']))
  if (properties.length > MOST_FIELDS) return undefined
  if (properties.length === 0 && (schema['additionalProperties'] || schema['anyOf'] || schema['oneOf'])) return undefined
  const required = new Set(list(schema['required']))
  return properties.map(([name, value], at) => {
    const one = tree(value)
    const type = kindOf(one)
    const values = type === 'boolean' ? [true, false] : list(one['enum'])
    const kind = values.length ? 'choice' : type === 'string' ? 'text' : type === 'number' || type === 'integer' ? 'number' : 'json'
    return {
      field: 'argument' + at,
      name,
      kind,
      required: required.has(name),
      hint: [text(one['title']), text(one['description'])].filter(Boolean).join(': ').slice(0, 500),
      initial: one['default'] === undefined ? '' : kind === 'json' ? json(one['default']) : shown(one['default']),
      values,
    }
  })
}

function parsed(field: string, name: string, written: string): unknown {
  try {
    return JSON.parse(written)
  } catch (e) {
    throw new FieldError(field, `${name} must be JSON: ${e instanceof Error ? e.message : ''}`)
  }
}

/** The arguments as they were filled in; empty fields are left out. */
export function filled(form: FormData, fields: Argument[]): Record<string, unknown> {
  const found: [string, unknown][] = []
  for (const { field, name, kind, values } of fields) {
    const written = String(form.get(field) ?? '')
    if (written === '') continue
    if (kind === 'text') found.push([name, written])
    else if (kind === 'number') found.push([name, Number(written)])
    else if (kind === 'choice') found.push([name, values[Number(written)]])
    else found.push([name, parsed(field, name, written)])
  }
  return Object.fromEntries(found)
}

export function fromJson(form: FormData): unknown {
  const given = parsed('json', 'The arguments', String(form.get('json') || '{}'))
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new FieldError('json', 'The arguments must be an object, like {"name": "value"}')
  return given
}
