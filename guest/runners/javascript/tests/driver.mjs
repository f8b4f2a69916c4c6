// Speaks to a runner as the node does. Needs nothing but Node itself.
import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const START = fileURLToPath(new URL('../start', import.meta.url));

const RUNNER = fileURLToPath(new URL('../runner.mjs', import.meta.url));

/** Every wait has this limit. */
export const LIMIT = 60_000;

export class Runner {
  events = [];
  #waiting = [];
  #rest = '';
  #ids = 0;

  constructor(language = 'javascript', ...more) {
    const command = more[0] === 'bare' ? [process.execPath, RUNNER, language] : ['/bin/sh', START, process.execPath, language, ...more];
    this.process = spawn(command[0], command.slice(1), {stdio: ['pipe', 'pipe', 'inherit'], detached: true});
    this.process.stdout.setEncoding('latin1').on('data', text => this.#read(text));
    this.process.stdin.on('error', () => {});
    this.ended = new Promise(done => this.process.on('exit', (code, signal) => done(signal ?? code)));
    this.ended.then(() => this.#add({event: 'gone'}));
  }

  #read(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) {
      if (/[^\x20-\x7e]/.test(line)) throw new Error(`not ASCII: ${line.slice(0, 200)}`);
      this.#add(JSON.parse(line));
    }
  }

  #add(event) {
    this.events.push(event);
    this.#waiting = this.#waiting.filter(wait => !wait());
  }

  write(line) {
    this.process.stdin.write(line + '\n');
  }

  send(request) {
    this.write(JSON.stringify(request));
  }

  /** The first event from `from` on that fits. */
  until(test, from = 0) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`not seen: ${test}; last ${JSON.stringify(this.events.slice(-5)).slice(0, 2000)}`)), LIMIT);
      let at = from;
      const look = () => {
        while (at < this.events.length && !test(this.events[at]) && this.events[at].event !== 'gone') at++;
        const found = this.events[at];
        if (!found) return false;
        clearTimeout(timer);
        if (test(found)) done(found);
        else fail(new Error('the runner ended'));
        return true;
      };
      if (!look()) this.#waiting.push(look);
    });
  }

  async setup(more = {}) {
    const from = this.events.length;
    this.send({op: 'setup', n: 1, cwd: '/tmp', env: {}, seed: '00112233445566778899aabbccddeeff', unset: [], ...more});
    return this.until(event => event.event === 'ready' || event.event === 'refused', from);
  }

  /** Waits until signals that were sent before have been heard. */
  settled(n = ++this.#ids) {
    const from = this.events.length;
    this.send({op: 'setup', n, env: {}, unset: []});
    return this.until(event => event.event === 'ready' && event.n === n, from);
  }

  /** Starts a cell; `done` resolves with what it gave. */
  start(code, env = {}) {
    const id = ++this.#ids;
    const from = this.events.length;
    this.send({op: 'run', id, code, env});
    return {id, from, done: this.until(event => event.event === 'end' && event.id === id, from).then(() => this.outcome(from, id))};
  }

  run(code, env) {
    return this.start(code, env).done;
  }

  outcome(from, id) {
    const begin = this.events.findIndex((event, at) => at >= from && event.event === 'begin' && event.id === id);
    const end = this.events.findIndex((event, at) => at >= begin && event.event === 'end' && event.id === id);
    const events = this.events.slice(begin, end + 1);
    const texts = kind => events.filter(event => event.event === kind).map(event => event.text);
    const results = events.filter(event => event.event === 'result');
    return {
      events, count: events[0].count, out: texts('out').join(''), err: texts('err').join(''), outs: texts('out'), errs: texts('err'),
      results, text: results.find(result => result.main)?.data['text/plain'], error: events.find(event => event.event === 'error'),
    };
  }

  /** SIGINT to the whole group, as the node sends it. */
  interrupt() {
    process.kill(-this.process.pid, 'SIGINT');
  }

  async close() {
    this.process.stdin.end();
    const timer = setTimeout(() => process.kill(-this.process.pid, 'SIGKILL'), 10_000);
    await this.ended;
    clearTimeout(timer);
  }
}

/** Runs work with a runner of its own, which ends whatever happens. */
export async function withRunner(work, language = 'javascript', ...more) {
  const runner = new Runner(language, ...more);
  try {
    await runner.setup();
    await work(runner);
  } finally {
    await runner.close();
  }
}
