// process.stdout and process.stderr of the cells.
import {Writable} from 'node:stream';

/** Writes at once and cannot be closed, as Node's own standard streams cannot. */
class CellStream extends Writable {
  #print;
  #kind;
  #decoder = new TextDecoder();

  constructor(kind, print) {
    super();
    this.#print = print;
    this.#kind = kind;
    this.fd = kind + 1;
    this._type = 'pipe';
    this._isStdio = true;
  }

  /** Past the buffer of Writable: an interrupt may break off a write, and that buffer would wait for its end for ever. */
  write(chunk, encoding, done) {
    if (typeof encoding === 'function') [encoding, done] = ['utf8', encoding];
    if (typeof chunk === 'string' && encoding && !/^utf-?8$/i.test(encoding)) chunk = Buffer.from(chunk, encoding);
    if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) throw new TypeError('The "chunk" argument must be a string, a Buffer or a typed array');
    this.#print(this.#kind, typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, {stream: true}));
    if (typeof done === 'function') process.nextTick(done);
    return true;
  }

  end(chunk, encoding, done) {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') this.write(chunk, encoding);
    const told = [chunk, encoding, done].find(one => typeof one === 'function');
    if (told) process.nextTick(told);
    return this;
  }

  destroy() {
    return this;
  }
}

export function openStreams(print) {
  for (const [kind, name] of ['stdout', 'stderr'].entries()) {
    const value = new CellStream(kind, print);
    Object.defineProperty(process, name, {value, writable: true, configurable: true, enumerable: true});
  }
}
