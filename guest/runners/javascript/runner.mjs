// Runs cells of JavaScript or TypeScript for one context: runner.mjs LANGUAGE [warm]. See ../PROTOCOL.md.
//
// Cells are evaluated by V8's console mode, which keeps `let` and `const` between cells, knows top-level await and gives the
// value of the last statement. The main thread belongs to the user's code; link.mjs is the other one.
import {AsyncLocalStorage} from 'node:async_hooks';
import {randomBytes, randomInt, randomUUID} from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import fs from 'node:fs';
import inspector from 'node:inspector';
import {createRequire, stripTypeScriptTypes} from 'node:module';
import {fileURLToPath} from 'node:url';
import {promiseHooks} from 'node:v8';
import vm from 'node:vm';
import {Worker} from 'node:worker_threads';
import {openModules} from './modules.mjs';
import {installRandom, seedRandom} from './random.mjs';
import {bundle, failure, noteMoves, origin, syntaxFailure, typeFailure} from './show.mjs';
import {openStreams} from './streams.mjs';
import {CHILD_ERR, CHILD_OUT, Wire, ascii} from './wire.mjs';

const INTERRUPTED = 'Script execution was interrupted by `SIGINT`';
const LINE_LIMIT = 30 << 20;
const HERE = fileURLToPath(new URL('.', import.meta.url));

// Started without `start`, the descriptors and options are not what they must be: start again with it.
if (!process.execArgv.includes('--expose-internals')) {
  process.execve('/bin/sh', ['sh', `${HERE}start`, process.execPath, ...process.argv.slice(2)], process.env);
}

const [language, warm] = process.argv.slice(2);
const {rewrite} = await import('./rewrite.mjs');
const require = createRequire(import.meta.url);
const children = [CHILD_OUT, CHILD_ERR].map(fd => fs.openSync(`/proc/self/fd/${fd}`, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK));
const wire = new Wire(Wire.memory(), children);
const cells = new AsyncLocalStorage();
const session = new inspector.Session();
const kept = {take: null};

let count = 0;
let current = null;

function emit(event) {
  const line = ascii(event);
  if (line.length <= LINE_LIMIT) return wire.guarded(() => wire.send(line));
  emit(event.data ? {...event, data: {'text/plain': '[result that is too large to be shown]'}} : {...event, value: '', traceback: ''});
}

function print(kind, text) {
  const cell = cells.getStore();
  if (!cell?.abandoned && text !== '') wire.guarded(() => wire.print(kind, text));
}

function run({id, seq, code, env}) {
  if (seq <= wire.begun) return;
  const cell = begin(id, seq);
  cell.before = exchange(env ?? {});
  let made;
  try {
    made = rewrite(code, language);
  } catch (error) {
    return finish(cell, typeFailure(cell.name, error));
  }
  noteMoves(cell.name, made);
  const request = {expression: `${made.code}\n//# sourceURL=${cell.name}`, replMode: true, objectGroup: cell.name};
  cells.run(cell, () => held(done => session.post('Runtime.evaluate', request, (error, reply) => {
    done();
    settle(cell, code, made, error, reply);
  })));
}

/** Promises of cells that have not settled. */
const open = new Set();

/**
 * Holds the promise that V8 makes of a cell, the first one made. A cell that waits for what can never come is garbage
 * otherwise, and the inspector would report that from inside the collector, which ends the process.
 */
function held(evaluate) {
  let own;
  let settled = false;
  const stop = promiseHooks.onInit(promise => {
    stop();
    own = promise;
    open.add(promise);
  });
  evaluate(() => {
    settled = true;
    open.delete(own);
  });
  stop();
  if (settled) open.delete(own);
}

function begin(id, seq) {
  wire.begun = seq;
  current = {id, seq, name: `cell-${++count}`, abandoned: false, before: {}};
  emit({event: 'begin', id, count});
  guardExceptions();
  return current;
}

/** An error instead of a reply means that the cell was broken off; the interrupt that did it ends the cell. */
function settle(cell, code, made, error, reply) {
  if (error || cell !== current) return;
  const details = reply.exceptionDetails;
  if (details?.scriptId && details.exception?.className === 'SyntaxError') return finish(cell, parseFailure(cell, code, made, details));
  if (details) return finish(cell, failure(take(details.exception)));
  const value = take(reply.result);
  if (value === undefined) return finish(cell, null);
  cells.run(cell, () => show(value, true)).then(() => finish(cell, null), problem => finish(cell, failure(problem)));
}

async function show(value, main) {
  const cell = cells.getStore();
  const data = await bundle(value);
  if (current !== null && !cell?.abandoned) emit({event: 'result', main, data});
}

/** The value behind the inspector's description of it. */
function take(remote) {
  if (!remote.objectId) return remote.unserializableValue ? globalEval(remote.unserializableValue) : remote.value;
  const request = {objectId: kept.id, functionDeclaration: 'function(value){this.take=value}', arguments: [{objectId: remote.objectId}]};
  session.post('Runtime.callFunctionOn', request);
  const value = kept.take;
  kept.take = null;
  return value;
}

const globalEval = eval;

function parseFailure(cell, code, made, {lineNumber, columnNumber, exception}) {
  const value = take(exception).message;
  if (made.doubt && /\b(import|export)\b/.test(value)) {
    const {loc, message} = made.doubt;
    return syntaxFailure(cell.name, code, message.replace(/ \(\d+:\d+\)$/, ''), ...origin(cell.name, loc.line, loc.column + 1));
  }
  return syntaxFailure(cell.name, code, value, ...origin(cell.name, lineNumber + 1, columnNumber + 1));
}

/** Ends a cell once, whichever of its value, its error and an interrupt comes first. */
function finish(cell, error) {
  if (cell !== current) return;
  if (error) emit({event: 'error', ...error});
  exchange(cell.before);
  guardExceptions();
  session.post('Runtime.releaseObjectGroup', {objectGroup: cell.name});
  wire.guarded(() => {
    current = null;
    wire.send(ascii({event: 'end', id: cell.id}));
    if (wire.cell === cell.seq) wire.cell = 0;
  });
}

/** A cell that only awaits ends here at once; one that was busy has been broken off before this is heard. */
function interrupt({id, seq}) {
  mendImmediates();
  if (current?.seq !== seq && seq > wire.begun) begin(id, seq);
  if (current?.seq !== seq) return;
  current.abandoned = true;
  finish(current, {name: 'Error', value: INTERRUPTED, traceback: `Error: ${INTERRUPTED}`});
}

/** Sets variables, null removes them; gives what they were. */
function exchange(variables) {
  const before = {};
  for (const [name, value] of Object.entries(variables)) {
    before[name] = process.env[name] ?? null;
    if (value === null) delete process.env[name];
    else process.env[name] = value;
  }
  return before;
}

function setup({n, cwd, env, seed, unset}) {
  exchange(env ?? {});
  for (const name of unset ?? []) delete process.env[name];
  if (/^[0-9a-f]{32}$/i.test(seed ?? '')) {
    seedRandom(seed);
    reseedCrypto();
  }
  try {
    if (cwd) process.chdir(cwd);
  } catch (error) {
    return emit({event: 'refused', n, reason: `${cwd}: ${error.code ?? error.message}`});
  }
  emit({event: 'ready', n});
}

/** A saved and restored process repeats the numbers of its cryptographic generator; see reseed.c. */
function reseedCrypto() {
  const addon = HERE + 'reseed.node';
  if (fs.existsSync(addon)) process.dlopen({exports: {}}, addon);
  // Node draws for these in advance, 128 ids and 1024 numbers at a time.
  for (let i = 0; i < 128; i++) randomUUID();
  for (let i = 0; i < 1024; i++) randomInt(2);
}

/** Errors that nobody caught are output of the cell and not the end of the runner. */
const complain = error => print(1, `Uncaught ${failure(error).traceback}\n`);

function guardExceptions() {
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    if (!process.listeners(event).includes(complain)) process.on(event, complain);
  }
}

const {immediateQueue} = require('internal/timers');
const {internalBinding} = quietly(() => require('internal/test/binding'));
const {immediateInfo, toggleImmediateRef} = internalBinding('timers');

/** Breaking off one function of setImmediate loses those behind it, but not their number, and the loop would spin for them. */
function mendImmediates() {
  let all = 0, held = 0;
  for (let one = immediateQueue.head; one; one = one._idleNext, all++) held += one.hasRef() ? 1 : 0;
  [immediateInfo[0], immediateInfo[1]] = [all, held];
  toggleImmediateRef(held > 0);
}

function quietly(work) {
  const {emitWarning} = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A child that was waited for has printed before the next line of the cell prints. */
function orderChildren() {
  const binding = internalBinding('spawn_sync');
  const {spawn} = binding;
  binding.spawn = options => {
    try {
      return spawn(options);
    } finally {
      wire.guarded(() => wire.drain());
    }
  };
  diagnostics.subscribe('child_process', () => wire.noteChild());
}

/** Node's own break-on-SIGINT leaves the signal with its deadly default; the runner breaks off such scripts itself. */
function keepSignal() {
  for (const name of ['runInThisContext', 'runInContext']) {
    const run = vm.Script.prototype[name];
    vm.Script.prototype[name] = function (...given) {
      const at = name === 'runInContext' ? 1 : 0;
      if (given[at]?.breakOnSigint) given[at] = {...given[at], breakOnSigint: false};
      return run.apply(this, given);
    };
  }
}

function openGlobals() {
  const cay = {...openModules(), last: null, named: (value, name) => Object.defineProperty(value, 'name', {value: name})};
  Object.defineProperty(globalThis, '$cay', {value: cay});
  Object.defineProperty(globalThis, 'display', {value: value => show(value, false), writable: true, configurable: true});
  globalThis[Symbol.for('cay.kept')] = kept;
  session.post('Runtime.evaluate', {expression: 'globalThis[Symbol.for("cay.kept")]'}, (_, reply) => kept.id = reply.result.objectId);
  delete globalThis[Symbol.for('cay.kept')];
}

async function warmUp() {
  for (const mode of ['strip', 'transform']) stripTypeScriptTypes('enum A {B}'.slice(mode === 'strip' ? 10 : 0), {mode});
  rewrite('await import("node:path")', 'javascript');
  await new Promise(done => session.post('Runtime.evaluate', {expression: '1+1', replMode: true}, done));
  await bundle({a: [1, 'two']});
}

const operations = {setup, run, interrupt, leave: () => process.exit(0)};

async function start() {
  openStreams(print);
  session.connect();
  seedRandom(randomBytes(16).toString('hex'));
  installRandom();
  openGlobals();
  guardExceptions();
  orderChildren();
  keepSignal();
  process.on('exit', () => wire.guarded(() => wire.flush()));
  const link = new Worker(new URL('link.mjs', import.meta.url), {workerData: {memory: wire.memory, children}, stdout: true, stderr: true});
  process.execArgv = [];
  process.argv.length = 1;
  if (warm === 'warm') await warmUp();
  link.on('message', message => operations[message.op]?.(message));
  link.on('error', error => process.exit(complainLast(error)));
  link.postMessage('go');
}

function complainLast(error) {
  fs.writeSync(5, `${error.stack}\n`);
  return 1;
}

await start();
