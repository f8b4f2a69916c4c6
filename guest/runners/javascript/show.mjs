// How values and errors look to the client.
import {SourceMap} from 'node:module';
import util from 'node:util';

const DISPLAY = Symbol.for('Jupyter.display');
const TEXT_LIMIT = 4 << 20, JSON_LIMIT = 4 << 20, MESSAGE_LIMIT = 1 << 20, DEPTH_LIMIT = 100;
const FULL = {depth: 6, maxArrayLength: 100_000, maxStringLength: Infinity};
const SHORT = {depth: 2, maxArrayLength: 100, maxStringLength: 10_000};
const BINARY = /^(image\/(?!svg)|application\/pdf|audio\/|video\/)/;

/** The MIME bundle of a value. The value may be hostile: a proxy, a getter that throws, a circle. */
export async function bundle(value) {
  const own = await ownBundle(value);
  if (own) return own;
  const data = {'text/plain': text(value)};
  const json = plainJson(value);
  if (json !== undefined) data['application/json'] = json;
  return data;
}

async function ownBundle(value) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return null;
  let show;
  try {
    show = value[DISPLAY];
  } catch {
    return null;
  }
  if (typeof show !== 'function') return null;
  const made = await show.call(value);
  if (made === null || typeof made !== 'object') throw new TypeError('Jupyter.display must return an object of MIME types');
  return Object.fromEntries(Object.entries(made).map(([type, part]) => [type, mimeValue(type, part)]));
}

function mimeValue(type, part) {
  if (ArrayBuffer.isView(part)) return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString(BINARY.test(type) ? 'base64' : 'utf8');
  if (/json$/.test(type) || type.startsWith('e2b/')) return checkedJson(part) ?? null;
  return typeof part === 'string' ? part : text(part);
}

/** A string as it is, everything else as `console.log` would print it, though deeper. */
export function text(value) {
  if (typeof value === 'string') return value.length > TEXT_LIMIT ? value.slice(0, TEXT_LIMIT) + '…' : value;
  for (const limits of [FULL, SHORT]) {
    try {
      const shown = util.inspect(value, limits);
      if (shown.length <= TEXT_LIMIT) return shown;
    } catch (error) {
      return `[${typeof value} that cannot be shown: ${message(error)}]`;
    }
  }
  return `[${typeof value} that is too large to be shown]`;
}

/** Arrays and plain objects are JSON too, as far as JSON can say what they are. */
function plainJson(value) {
  try {
    if (value === null || typeof value !== 'object' || util.types.isProxy(value)) return undefined;
    const prototype = Object.getPrototypeOf(value);
    const plain = prototype === null || prototype === Object.prototype || Array.isArray(value);
    return plain ? checkedJson(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A copy that is certainly JSON, small and flat enough for every reader, or undefined. */
function checkedJson(value) {
  try {
    const json = JSON.stringify(value);
    return json !== undefined && json.length <= JSON_LIMIT && depth(json) <= DEPTH_LIMIT ? JSON.parse(json) : undefined;
  } catch {
    return undefined;
  }
}

function depth(json) {
  let deepest = 0;
  let now = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++now);
    else if (token === ']' || token === '}') now--;
  }
  return deepest;
}

function message(error) {
  try {
    return String(error?.message ?? error);
  } catch {
    return 'no message';
  }
}

function nameOf(error) {
  try {
    return typeof error.name === 'string' && error.name !== '' ? error.name : 'Error';
  } catch {
    return 'Error';
  }
}

/** The cells that were moved against their source: by a source map, or by what stands before their first line. */
const moved = new Map();

export function noteMoves(cell, {map, prefix}) {
  if (map === null && prefix === 0) return;
  moved.set(cell, {map: map && new SourceMap(JSON.parse(map)), prefix});
  if (moved.size > 1000) moved.delete(moved.keys().next().value);
}

/** Line and column, both from 1, in the user's own text. */
export function origin(cell, line, column) {
  const move = moved.get(cell);
  if (!move) return [line, column];
  const back = line === 1 ? Math.max(1, column - move.prefix) : column;
  if (!move.map) return [line, back];
  const entry = move.map.findEntry(line - 1, back - 1);
  return entry.originalLine === undefined ? [line, back] : [entry.originalLine + 1, entry.originalColumn + 1];
}

const OURS = new RegExp(`node:inspector|node:internal/|${new URL('.', import.meta.url).href.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);

/** A stack without the runner's frames and those below them, and with the positions of the user's own text. */
function clean(stack) {
  const kept = [];
  let below = false;
  for (const line of stack.split('\n')) {
    const frame = /^\s+at /.test(line);
    below = frame && (below || line.includes('node:inspector'));
    if (!frame || !(below || OURS.test(line))) kept.push(line);
    else if (line.endsWith(' {')) kept.push(kept.pop() + ' {');
  }
  return kept.join('\n').replace(/\b(cell-\d+):(\d+):(\d+)/g, (_, cell, line, column) => [cell, ...origin(cell, +line, +column)].join(':'));
}

/** What the client learns of something thrown. */
export function failure(error) {
  if (!util.types.isNativeError(error) && !(error instanceof Error)) {
    const value = limited(text(error));
    return {name: error !== null && typeof error === 'object' ? nameOf(error) : 'Error', value, traceback: `Uncaught ${value}`};
  }
  let stack;
  try {
    stack = util.inspect(error, SHORT);
  } catch {
    stack = `${nameOf(error)}: ${message(error)}`;
  }
  return {name: nameOf(error), value: limited(message(error)), traceback: clean(limited(stack))};
}

function limited(value) {
  return value.length > MESSAGE_LIMIT ? value.slice(0, MESSAGE_LIMIT) + '…' : value;
}

/** An error of the parser: where it is, the line, and a mark below it. */
export function syntaxFailure(cell, source, value, line, column) {
  const shown = source.split('\n')[line - 1] ?? '';
  if (value === 'Invalid or unexpected token' && shown[column - 1] === '@') value = 'Decorators are not supported';
  const mark = shown.length > 2000 ? [] : [shown, ' '.repeat(Math.max(0, column - 1)) + '^', ''];
  return {name: 'SyntaxError', value, traceback: [`${cell}:${line}:${column}`, ...mark, `SyntaxError: ${value}`].join('\n')};
}

/** What the type transform complains of. Its stack begins with the place, the line and a mark, which its message lacks. */
export function typeFailure(cell, error) {
  const value = String(error.message).trim();
  const place = String(error.stack).split(/^SyntaxError /m)[0].replace(/^[^\n]*:(\d+)\n/, `${cell}:$1\n`);
  return {name: 'SyntaxError', value, traceback: limited(`${place}SyntaxError: ${value}`)};
}
