// The second thread: it reads requests, hears SIGINT and empties the pipes of the standard streams, whatever the main thread does.
import inspector from 'node:inspector';
import {createRequire} from 'node:module';
import net from 'node:net';
import {parentPort, workerData} from 'node:worker_threads';
import {REQUESTS, Wire} from './wire.mjs';

/** How long the main thread has to see an interrupt by itself, as it does when it only awaits, before it is broken off. */
const GRACE = 25;
const PATIENCE = 1000;
const TICK = 20, REST = 500;

const wire = new Wire(workerData.memory, workerData.children);
const {Signal} = createRequire(import.meta.url)('internal/test/binding').internalBinding('signal_wrap');
const signal = new Signal();
signal.onsignal = interrupt;
signal.start(2);
parentPort.on('message', listen);

let handed = 0;
let latest = {seq: 0};
let pursued = 0;

function interrupt() {
  if (wire.cell === 0 || wire.cell === pursued) return;
  pursued = wire.cell;
  pursue(latest);
}

/** Asks the main thread to give up the cell, breaks off what keeps it from hearing that, and asks again until it did. */
function pursue({id, seq}) {
  parentPort.postMessage({op: 'interrupt', id, seq});
  setTimeout(() => {
    if (wire.cell === seq) breakOff(() => pursue({id, seq}));
  }, GRACE);
}

/** What an interrupted cell left behind, a timer for example, may be busy for ever; it must not keep the next cell from beginning. */
function unblock(asked) {
  if (pursued === 0) return;
  setTimeout(() => {
    if (wire.cell === asked.seq && wire.begun < asked.seq) breakOff(() => handOver(asked));
  }, PATIENCE);
}

function breakOff(then) {
  if (!wire.tryBreak()) return then();
  const session = new inspector.Session();
  session.connectToMainThread();
  session.post('Runtime.terminateExecution', () => {
    session.disconnect();
    wire.broken();
    then();
  });
}

/** Requests: one JSON object a line; what is none is passed over. */
function listen() {
  parentPort.off('message', listen);
  parentPort.unref();
  const parts = [];
  const input = new net.Socket({fd: REQUESTS, readable: true, writable: false});
  input.on('data', chunk => {
    let at = 0;
    for (let end; (end = chunk.indexOf(10, at)) >= 0; at = end + 1) {
      parts.push(chunk.subarray(at, end));
      request(Buffer.concat(parts).toString());
      parts.length = 0;
    }
    if (at < chunk.length) parts.push(chunk.subarray(at));
  });
  input.on('error', leave);
  input.on('end', leave);
}

function request(line) {
  let asked;
  try {
    asked = JSON.parse(line);
  } catch {
    return;
  }
  if (asked?.op === 'setup') {
    parentPort.postMessage(asked);
  } else if (asked?.op === 'run' && Number.isSafeInteger(asked.id) && typeof asked.code === 'string') {
    // Signals that came before this request are heard first, so that they do not hit this cell.
    setImmediate(() => {
      latest = asked;
      wire.cell = asked.seq = ++handed;
      tend();
      handOver(asked);
    });
  }
}

function handOver(asked) {
  parentPort.postMessage(asked);
  unblock(asked);
}

/** Nobody will ask again; a main thread that is too busy to leave is killed. */
function leave() {
  parentPort.postMessage({op: 'leave'});
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1000);
}

let timer;
let quiet = 0;

/** Sends what was printed: while a cell runs every few milliseconds, afterwards seldom, and only if children may live on. */
function tend() {
  clearTimeout(timer);
  quiet = 0;
  timer = setTimeout(tick, TICK);
}

function tick() {
  let some = false;
  const held = wire.tryLocked(() => {
    some = wire.drain();
    wire.flush();
  });
  quiet = some ? 0 : quiet + 1;
  if (wire.cell !== 0) {
    timer = setTimeout(tick, held ? Math.min(quiet * 2, TICK) : TICK);
  } else if (wire.spawned) {
    timer = setTimeout(tick, some ? TICK : REST);
  }
}

parentPort.postMessage({op: 'up'});
