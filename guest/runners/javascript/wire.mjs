// What both threads of the runner share: the lock around the node's pipe, the text gathered for it, and who may be broken off.
import fs from 'node:fs';

/** Descriptors as `start` laid them out. */
export const REQUESTS = 8, EVENTS = 9, CHILD_OUT = 6, CHILD_ERR = 7, COMPLAINTS = 5;

/** Places in the shared memory. */
const LOCK = 0, PHASE = 1, CELL = 2, KIND = 3, LENGTH = 4, SPAWNED = 5, BEGUN = 6, WORDS = 8;

/** Phases of the main thread: in the runner's own hands, in the user's, or about to be broken off by the other thread. */
const OWN = 0, USER = 1, BREAKING = 2;

const ROOM = 96 * 1024, FULL = 64 * 1024, CHUNK = 8 * 1024;
const KINDS = ['out', 'err'];

const DIGITS = Buffer.from('0123456789abcdef');

/** JSON text in ASCII: what is above 0x7E becomes \uXXXX, so that no reader can cut a character or a line in two. */
export function ascii(value) {
  const json = JSON.stringify(value);
  return /[\x7f-\uffff]/.test(json) ? escaped(json) : json;
}

/** By hand, since a replacement by function costs a hundred times as much a character. */
function escaped(json) {
  const bytes = Buffer.allocUnsafe(json.length * 6);
  let at = 0;
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (c < 0x7f) {
      bytes[at++] = c;
      continue;
    }
    bytes[at++] = 0x5c;
    bytes[at++] = 0x75;
    for (let shift = 12; shift >= 0; shift -= 4) bytes[at++] = DIGITS[(c >> shift) & 15];
  }
  return bytes.latin1Slice(0, at);
}

/**
 * The pipe to the node. The main thread may be busy or asleep for hours in a cell, and what was printed before has to leave
 * nevertheless; so gathered text lies in shared memory, already as JSON, and either thread may send it.
 */
export class Wire {
  #words;
  #text;
  #children;

  constructor(memory, children) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, WORDS);
    this.#text = Buffer.from(memory, WORDS * 4, ROOM);
    this.#children = children.map((fd, kind) => ({fd, kind, decoder: new TextDecoder(), chunk: Buffer.allocUnsafe(65536)}));
  }

  static memory() {
    const memory = new SharedArrayBuffer(WORDS * 4 + ROOM);
    new Int32Array(memory)[PHASE] = USER;
    return memory;
  }

  /** The cell that was handed over and has not ended; 0 is none. */
  get cell() {
    return Atomics.load(this.#words, CELL);
  }

  set cell(id) {
    Atomics.store(this.#words, CELL, id);
  }

  /** The last cell that began. */
  get begun() {
    return Atomics.load(this.#words, BEGUN);
  }

  set begun(cell) {
    Atomics.store(this.#words, BEGUN, cell);
  }

  get spawned() {
    return Atomics.load(this.#words, SPAWNED) === 1;
  }

  noteChild() {
    Atomics.store(this.#words, SPAWNED, 1);
  }

  /** Runs work of the runner on the main thread, which no interrupt may break off half way. */
  guarded(work) {
    const nested = this.#leaveUser();
    try {
      this.#lock();
      try {
        return work();
      } finally {
        this.#unlock();
      }
    } finally {
      if (!nested) Atomics.store(this.#words, PHASE, USER);
    }
  }

  /** Waits while the other thread is breaking off this one: either the break comes here, or it came before and is over soon. */
  #leaveUser() {
    for (;;) {
      const before = Atomics.compareExchange(this.#words, PHASE, USER, OWN);
      if (before !== BREAKING) return before === OWN;
      Atomics.wait(this.#words, PHASE, BREAKING, 50);
    }
  }

  /** For the other thread: true when the main thread is in the user's hands and will stay there until `broken`. */
  tryBreak() {
    return Atomics.compareExchange(this.#words, PHASE, USER, BREAKING) === USER;
  }

  broken() {
    Atomics.compareExchange(this.#words, PHASE, BREAKING, USER);
    Atomics.notify(this.#words, PHASE);
  }

  #lock() {
    while (Atomics.compareExchange(this.#words, LOCK, 0, 1) !== 0) Atomics.wait(this.#words, LOCK, 1, 20);
  }

  #unlock() {
    Atomics.store(this.#words, LOCK, 0);
    Atomics.notify(this.#words, LOCK, 1);
  }

  /** For the other thread, which must stay free to hear signals: does nothing and says so when the pipe is in use. */
  tryLocked(work) {
    if (Atomics.compareExchange(this.#words, LOCK, 0, 1) !== 0) return false;
    try {
      work();
    } finally {
      this.#unlock();
    }
    return true;
  }

  /** One event; all text that was printed before goes first. Called with the lock held. */
  send(line) {
    this.drain();
    this.flush();
    write(Buffer.from(line + '\n', 'latin1'));
  }

  /** Printed text; called with the lock held. */
  print(kind, text) {
    if (text.length > CHUNK) return this.#printLong(kind, text);
    const json = ascii(text);
    const size = json.length - 2;
    const held = this.#words[LENGTH];
    if (held > 0 && (this.#words[KIND] !== kind || held + size > ROOM)) this.flush();
    this.#words[KIND] = kind;
    this.#text.latin1Write(json.slice(1, -1), this.#words[LENGTH]);
    this.#words[LENGTH] += size;
    if (this.#words[LENGTH] >= FULL) this.flush();
  }

  #printLong(kind, text) {
    for (let at = 0; at < text.length; ) {
      let end = Math.min(at + CHUNK, text.length);
      if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
      this.print(kind, text.slice(at, end));
      at = end;
    }
  }

  /** Sends what was gathered. */
  flush() {
    const held = this.#words[LENGTH];
    if (held === 0) return;
    this.#words[LENGTH] = 0;
    const head = `{"event":"${KINDS[this.#words[KIND]]}","text":"`;
    write(Buffer.concat([Buffer.from(head), this.#text.subarray(0, held), Buffer.from('"}\n')]));
  }

  /** Takes in what children and native code wrote to the standard streams; says whether there was anything. */
  drain() {
    let some = false;
    for (const child of this.#children) {
      for (let rounds = 0; rounds < 64; rounds++) {
        const count = readNow(child.fd, child.chunk);
        if (count <= 0) break;
        some = true;
        this.print(child.kind, child.decoder.decode(child.chunk.subarray(0, count), {stream: true}));
      }
    }
    return some;
  }
}

/** Bytes that are there at this moment; a pipe without any says EAGAIN, and its stack trace would cost more than the read. */
function readNow(fd, chunk) {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return fs.readSync(fd, chunk);
  } catch {
    return 0;
  } finally {
    Error.stackTraceLimit = limit;
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));

function write(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(EVENTS, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
