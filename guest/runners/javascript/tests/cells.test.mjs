// What cells can do, and what the client sees of it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {LIMIT, Runner, withRunner} from './driver.mjs';

const javascript = (name, work) => test(name, {timeout: LIMIT}, () => withRunner(work, 'javascript'));
const typescript = (name, work) => test(`typescript: ${name}`, {timeout: LIMIT}, () => withRunner(work, 'typescript'));
const both = (name, work) => [javascript(name, work), typescript(name, work)];

function directory() {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'cay-runner-'));
}

both('console.log is one chunk', async runner => {
  assert.deepEqual((await runner.run('console.log("Hello, World!")')).outs, ['Hello, World!\n']);
  assert.deepEqual((await runner.run('console.error("oh")')).errs, ['oh\n']);
});

both('static imports, hoisted or not', async runner => {
  assert.equal((await runner.run("import { readFileSync } from 'fs'\nconsole.log(typeof readFileSync)")).out, 'function\n');
  assert.equal((await runner.run('typeof readFileSync')).text, 'function');
  assert.equal((await runner.run("import path, * as all from 'node:path'; import os, {cpus as c} from 'os'; import 'fs';\n[typeof path.join, typeof all.join, typeof c, typeof os.cpus].join()")).text, 'function,function,function,function');
  assert.equal((await runner.run("const early = join('a', 'b')\nimport {join} from 'path'\nearly")).text, 'a/b');
  assert.equal((await runner.run("import {\n  sep,\n  join as glue\n} from 'path'\nthrow new Error(glue('a', sep))")).error.traceback.match(/cell-\d+:(\d+)/)[1], '5');
  assert.match((await runner.run("import {nope} from 'fs'")).error.value, /does not provide an export named 'nope'/);
});

both('top-level await', async runner => {
  assert.equal((await runner.run("await Promise.resolve('Hello World!')")).text, 'Hello World!');
  await runner.run('const later = await new Promise(done => setTimeout(done, 5, 7))');
  assert.equal((await runner.run('later')).text, '7');
  assert.equal((await runner.run('for await (const x of [1, Promise.resolve(2)]) console.log(x)')).out, '1\n2\n');
});

both('names can be declared again, in every way', async runner => {
  const forms = ['const x = 1; x', 'let x = 2; x++; x', 'var x = 4; x', 'function x() { return 5 }\nx()', 'class x { static v = 6 }; x.v', 'const {x} = {x: 7}; x', 'const [y, x] = [1, 8]; x'];
  const values = ['1', '3', '4', '5', '6', '7', '8'];
  for (let first = 0; first < forms.length; first++) {
    for (let second = 0; second < forms.length; second++) {
      const name = `x${first}${second}`;
      for (const at of [first, second, first]) {
        const done = await runner.run(forms[at].replace(/\bx\b/g, name).replace(/\{x7/, '{x7').replace(/\by\b/g, `y${name}`));
        assert.equal(done.text, values[at], `${forms[first]} / ${forms[second]}: ${done.error?.value}`);
      }
    }
  }
});

both('state is shared, and closures see later assignments', async runner => {
  await runner.run('let x = 1; const see = () => x');
  assert.equal((await runner.run('x += 1; see()')).text, '2');
  await runner.run('const x = 10');
  assert.equal((await runner.run('see()')).text, '10');
});

both('a function is there before its line', async runner => {
  await runner.run('const late = 1');
  assert.equal((await runner.run('late() + late.name\nfunction late() { return "f" }')).text, 'flate');
});

javascript('values of the last statement', async runner => {
  const shown = {
    'x = 1; x;': '1', '"text"': 'text', 'null': 'null', '-0': '-0', '12n': '12n', 'Symbol("s")': 'Symbol(s)', 'NaN': 'NaN', '[1, "a"]': "[ 1, 'a' ]",
    '({a: 1})': '{ a: 1 }', '{a: 1}': '{ a: 1 }', '(function f() {})': '[Function: f]', '(class A {})': '[class A]', 'new Map([[1, 2]])': 'Map(1) { 1 => 2 }',
    'new Proxy({a: 1}, {})': '{ a: 1 }', '/r/g': '/r/g', 'new Date(0)': '1970-01-01T00:00:00.000Z', 'Promise.resolve(4)': 'Promise { 4 }',
    'const o = {}; o.o = o; o': '<ref *1> { o: [Circular *1] }', '({get bad() { throw 1 }})': '{ bad: [Getter] }', 'Object.create(null)': '[Object: null prototype] {}',
  };
  for (const [code, text] of Object.entries(shown)) assert.equal((await runner.run(code)).text, text, code);
  for (const code of ['undefined', 'let q = 1', 'void 0', '', '// nothing']) assert.equal((await runner.run(code)).results.length, 0, code);
});

javascript('plain objects and arrays are JSON too', async runner => {
  const json = async code => (await runner.run(code)).results[0].data['application/json'];
  assert.deepEqual(await json('[1, {a: null}]'), [1, {a: null}]);
  assert.deepEqual(await json('({é: "\\u2028"})'), {é: '\u2028'});
  for (const code of ['new Map()', '(class A {})', 'const o = []; o.push(o); o', '[1n]', 'let deep = []; for (let i = 0; i < 5000; i++) deep = [deep]; deep', 'new Proxy([], {})', '({toJSON() { throw 1 }})']) {
    assert.equal(await json(code), undefined, code);
  }
});

javascript('hostile values are shown somehow', async runner => {
  for (const code of [
    '({[require("util").inspect.custom]() { throw new Error("no") }})', 'new Proxy({}, {get() { throw 1 }, ownKeys() { throw 2 }})',
    'throw {get name() { throw 1 }, get message() { throw 2 }, toString() { throw 3 }}', 'const e = new Error("x"); Object.defineProperty(e, "stack", {get() { throw 1 }}); throw e',
    'const f = new Error("x"); Object.defineProperty(f, "message", {get() { throw 1 }}); throw f', 'throw new Proxy(new Error("p"), {get() { throw 1 }})', 'throw null', 'throw undefined',
    '({get [Symbol.for("Jupyter.display")]() { throw 1 }})', '({[Symbol.for("Jupyter.display")]() { throw new Error("own") }})', '({[Symbol.for("Jupyter.display")]: () => 5})',
  ]) {
    const done = await runner.run(code);
    assert.ok(done.error || done.text !== undefined, code);
    assert.equal((await runner.run('1 + 1')).text, '2', code);
  }
});

javascript('a value may bring its own MIME bundle, and display shows values in between', async runner => {
  const own = await runner.run('({[Symbol.for("Jupyter.display")]: async () => ({"text/html": "<b>x</b>", "image/png": new Uint8Array([1, 2, 3])})})');
  assert.deepEqual(own.results, [{event: 'result', main: true, data: {'text/html': '<b>x</b>', 'image/png': 'AQID'}}]);
  const shown = await runner.run('await display({a: 1}); 5');
  assert.deepEqual(shown.results.map(result => [result.main, result.data['text/plain']]), [[false, '{ a: 1 }'], [true, '5']]);
});

both('errors have name, message and the lines of the cell', async runner => {
  const {error} = await runner.run('\n\nfunction g() { throw new TypeError("boo") }\ng()');
  assert.deepEqual([error.name, error.value], ['TypeError', 'boo']);
  assert.match(error.traceback, /^TypeError: boo\n    at g \(cell-1:3:\d+\)\n    at cell-1:4:1$/);
  assert.deepEqual((await runner.run('nothing')).error.value, 'nothing is not defined');
  assert.match((await runner.run('async function h() { await 1; throw new Error("later", {cause: new Error("why")}) }\nawait h()')).error.traceback, /later[^]*cell-3:1:\d+[^]*cell-3:2:1[^]*why/);
  assert.equal((await runner.run('throw "text"')).error.value, 'text');
  assert.equal((await runner.run('throw {code: 5}')).error.value, '{ code: 5 }');
  const custom = (await runner.run('class Mine extends Error { name = "Mine" }; throw Object.assign(new Mine("m"), {code: 7})')).error;
  assert.equal(custom.name, 'Mine');
  assert.match(custom.traceback, /code: 7/);
});

both('syntax errors say where', async runner => {
  const first = await runner.run('let ok = 1\nlet a b');
  assert.equal(first.error.name, 'SyntaxError');
  assert.match(first.error.traceback, /^cell-1:2[^]*let a b\n      \^\n/);
  const second = await runner.run('1 + 1');
  assert.deepEqual([first.count, second.count], [1, 2]);
  for (const code of ['{', '"open', 'foo(', 'import', 'import {a from "b"', 'export', 'await', '`${', '@dec class A {}', 'return 1', '/* open', '#!x\n@']) {
    const {error} = await runner.run(code);
    assert.equal(error?.name, code === 'await' ? error?.name : 'SyntaxError', `${code}: ${JSON.stringify(error)}`);
  }
  assert.equal((await runner.run('ok = 5; ok')).text, '5');
});

javascript('decorators are refused clearly', async runner => {
  assert.equal((await runner.run('@dec class A {}')).error.value, 'Decorators are not supported');
});

typescript('types, enums, parameter properties, namespaces', async runner => {
  assert.equal((await runner.run('const x: number = 5; interface A { b: string }; type C = A | null;\nx as number')).text, '5');
  assert.equal((await runner.run('enum Colour { Red, Green = "g" }\nColour.Green')).text, 'g');
  assert.equal((await runner.run('class P { constructor(private readonly a: string, public b = 2) {} sum() { return this.a + this.b } }\nnew P("a").sum()')).text, 'a2');
  assert.equal((await runner.run('namespace N { export const v = 3 }\nN.v')).text, '3');
  assert.equal((await runner.run('function id<T>(value: T): T { return value }\nid<string>("generic")')).text, 'generic');
  assert.equal((await runner.run('enum Colour { Blue = 9 }\nColour.Blue')).text, '9');
  assert.equal((await runner.run("import { join } from 'path'\nenum Z { A }")).error, undefined);
  assert.equal((await runner.run('typeof join')).text, 'function');
});

typescript('lines of transformed cells are the user\'s', async runner => {
  const {error} = await runner.run('enum E {\n  A,\n  B,\n}\ninterface X {\n  a: string\n}\n\nfunction bad(x: number) {\n  throw new Error("here")\n}\nbad(1)');
  assert.match(error.traceback, /at bad \(cell-1:10:\d+\)\n    at cell-1:12:1/);
});

javascript('require, __dirname, import.meta and packages from directory and cwd, also those installed later', async runner => {
  const place = directory();
  try {
    await runner.setup({cwd: place});
    assert.equal((await runner.run('__dirname')).text, place);
    assert.equal((await runner.run('import.meta.dirname + import.meta.filename')).text, `${place}${place}/cell`);
    assert.match((await runner.run('import late from "late-package"')).error.value, /Cannot find package 'late-package'/);
    assert.match((await runner.run('require("late-package")')).error.value, /Cannot find module 'late-package'/);
    const module = path.join(place, 'node_modules', 'late-package');
    fs.mkdirSync(module, {recursive: true});
    fs.writeFileSync(path.join(module, 'package.json'), JSON.stringify({name: 'late-package', exports: {import: './m.mjs', require: './c.cjs'}}));
    fs.writeFileSync(path.join(module, 'm.mjs'), 'export default "esm"; export const named = 1');
    fs.writeFileSync(path.join(module, 'c.cjs'), 'module.exports = "cjs"');
    fs.writeFileSync(path.join(place, 'data.json'), '{"j": 1}');
    fs.writeFileSync(path.join(place, 'local.js'), 'exports.local = 2');
    assert.equal((await runner.run('import late, {named} from "late-package"; late + named')).text, 'esm1');
    assert.equal((await runner.run('require("late-package")')).text, 'cjs');
    assert.equal((await runner.run('(await import("late-package")).default')).text, 'esm');
    assert.equal((await runner.run('import data from "./data.json" with {type: "json"}; data.j')).text, '1');
    assert.equal((await runner.run('import {local} from "./local.js"; local + require("./local").local')).text, '4');
    assert.equal((await runner.run('process.chdir("/"); require.resolve.paths("x").includes("/usr/local/lib/node_modules")')).text, 'true');
    assert.equal((await runner.run('process.cwd()')).text, '/');
  } finally {
    fs.rmSync(place, {recursive: true});
  }
});

javascript('exports are tolerated', async runner => {
  assert.equal((await runner.run('export const a = 1; export function f() { return 2 }; export class C {}; const z = 1; export {z as y}; export default class D {}\n[a, f(), typeof C, typeof D].join()')).text, '1,2,function,function');
  assert.equal((await runner.run('export default {q: 1}')).text, '{ q: 1 }');
  assert.equal((await runner.run('export * from "fs"; export {join} from "path"; 3')).text, '3');
});

both('variables of sandbox and cell', async runner => {
  await runner.setup({env: {FOO: 'default', GONE: 'x'}});
  await runner.setup({unset: ['GONE']});
  assert.equal((await runner.run('process.env.FOO + process.env.GONE')).text, 'defaultundefined');
  assert.equal((await runner.run('process.env.FOO + process.env.ONCE', {FOO: 'mine', ONCE: 'it\'s "é"'})).text, 'mineit\'s "é"');
  assert.equal((await runner.run('process.env.FOO + process.env.ONCE')).text, 'defaultundefined');
  await runner.run('throw 1', {FOO: 'mine'});
  assert.equal((await runner.run('process.env.FOO')).text, 'default');
});

test('a directory that is not there is refused', {timeout: LIMIT}, () => withRunner(async runner => {
  assert.deepEqual(await runner.setup({cwd: '/nowhere'}), {event: 'refused', n: 1, reason: '/nowhere: ENOENT'});
  assert.equal((await runner.run('process.cwd()')).text, '/tmp');
}));

test('Math.random follows the seed', {timeout: LIMIT}, () => withRunner(async runner => {
  const draws = [];
  for (const seed of ['1'.repeat(32), '2'.repeat(32), '1'.repeat(32), '0'.repeat(32)]) {
    await runner.setup({seed});
    draws.push((await runner.run('Array.from({length: 5}, Math.random).join()')).text);
  }
  assert.equal(draws[0], draws[2]);
  assert.equal(new Set(draws).size, 3);
  const mean = +(await runner.run('let s = 0; for (let i = 0; i < 1e6; i++) { const r = Math.random(); if (r < 0 || r >= 1) throw r; s += r } s / 1e6')).text;
  assert.ok(Math.abs(mean - 0.5) < 0.005, `mean ${mean}`);
}));

javascript('output of children and of native code, in order', async runner => {
  const done = await runner.run('const {execSync, spawn} = require("child_process"); console.log("a"); execSync("echo b; echo e >&2", {stdio: "inherit"}); console.log("c"); require("fs").writeSync(1, "d\\n")');
  assert.deepEqual([done.out, done.err], ['a\nb\nc\nd\n', 'e\n']);
  assert.equal((await runner.run('await new Promise(done => spawn("echo", ["x"], {stdio: ["ignore", process.stdout, process.stderr]}).on("close", done)); 0')).out, 'x\n');
  assert.equal((await runner.run('execSync("head -c 5000000 /dev/zero | tr \'\\\\0\' x", {stdio: "inherit"}); 0')).out.length, 5_000_000);
  assert.equal((await runner.run('execSync("cat").length')).text, '0');
  assert.equal((await runner.run('execSync("ls /proc/self/fd", {encoding: "utf8"}).split("\\n").filter(fd => fd >= 5 && fd <= 9).join()')).text, '');
});

javascript('output leaves while the cell is busy', async runner => {
  const cell = runner.start('console.log("early"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)');
  await runner.until(event => event.event === 'out' && event.text === 'early\n', cell.from);
  runner.interrupt();
  await cell.done;
});

javascript('every way to print', async runner => {
  const done = await runner.run('console.info("i"); console.warn("w"); console.dir({a: 1}); console.table([{a: 1}]); process.stdout.write("no newline"); process.stderr.write(Buffer.from("é").subarray(0, 1)); process.stderr.write(Buffer.from("é").subarray(1)); process.stdout.write("c3a9", "hex"); console.log("%s %d %o", "s", 1, [2]); console.log("\\u{1f600}\\u2028\\x7f\\ud800"); await new Promise(r => process.stdout.write("", r)); 0');
  assert.match(done.out, /^i\n\{ a: 1 \}\n┌[^]*no newlineés 1 \[ 2, \[length\]: 1 \]\n😀\u2028\x7f/);
  assert.equal(done.err, 'w\né');
  assert.equal((await runner.run('process.stdout.end("end\\n"); process.stdout.destroy(); console.log("still")')).out, 'end\nstill\n');
  assert.equal((await runner.run('require("stream").Readable.from(["p", "q"]).pipe(process.stdout); await new Promise(r => setTimeout(r, 20)); 0')).out, 'pq');
});

javascript('a flood of output arrives whole', async runner => {
  const before = runner.events.length;
  const done = await runner.run('const line = "x".repeat(99); for (let i = 0; i < 1_000_000; i++) console.log(line); console.error("end")');
  assert.equal(done.outs.reduce((sum, text) => sum + text.length, 0), 100_000_000);
  assert.equal(done.err, 'end\n');
  assert.ok(runner.events.length - before < 20_000);
});

javascript('long cells, long lines, large values', async runner => {
  assert.equal((await runner.run(`const big = "${'é'.repeat(5_000_000)}"; big.length`)).text, '5000000');
  assert.equal((await runner.run('console.log(big)')).out.length, 5_000_001);
  assert.ok((await runner.run('big')).text.length >= 1_000_000);
  assert.ok((await runner.run('Array.from({length: 3e6}, (_, i) => i)')).text.length > 1000);
  assert.ok((await runner.run('throw new Error("y".repeat(5e6))')).error);
});

both('errors that nobody catches are output', async runner => {
  assert.match((await runner.run('setTimeout(() => { throw new Error("late") }, 1); await new Promise(done => setTimeout(done, 30)); 0')).err, /Uncaught Error: late/);
  assert.match((await runner.run('Promise.reject(new Error("lost")); await new Promise(done => setTimeout(done, 5)); 0')).err, /Uncaught Error: lost/);
  await runner.run('setTimeout(() => { throw new Error("between") }, 1); process.removeAllListeners("uncaughtException"); process.removeAllListeners(); 0');
  assert.equal((await runner.run('await new Promise(done => setTimeout(done, 30)); 1 + 1').catch(() => ({text: 'gone'}))).text, '2');
});

javascript('a background child does not hold the cell, and is read between cells', async runner => {
  const from = runner.events.length;
  await runner.run('const child = require("child_process").spawn("sh", ["-c", "yes"], {stdio: "inherit"}); child.pid');
  await runner.until(event => event.event === 'out', from);
  assert.equal((await runner.run('child.kill(); await new Promise(done => child.on("exit", done)); "ended"')).text, 'ended');
});

javascript('process.exit ends the runner after its output', async runner => {
  runner.start('console.log("last"); process.exit(3)').done.catch(() => {});
  assert.equal(await runner.ended, 3);
  assert.ok(runner.events.some(event => event.event === 'out' && event.text === 'last\n'));
});

javascript('nonsense is passed over', async runner => {
  for (const line of ['', 'nonsense', '{"op":"run"', '[]', 'null', '7', '{"op":"unknown"}', '{"op":"run","id":"x","code":1}']) runner.write(line);
  const cell = runner.start('for (const end = Date.now() + 300; Date.now() < end;); 5');
  await runner.settled();
  assert.equal((await cell.done).text, '5');
});

test('a warm runner begins with nothing', {timeout: LIMIT}, () => withRunner(async runner => {
  const first = await runner.run('enum A { B = 5 }\nA.B');
  assert.deepEqual([first.count, first.text], [1, '5']);
}, 'typescript', 'warm'));

test('a runner started without its script starts itself again with it', {timeout: LIMIT}, () => withRunner(async runner => {
  assert.equal((await runner.run('import {join} from "path"; join("a", "b")')).text, 'a/b');
  assert.equal((await runner.run('require("child_process").execSync("echo x", {stdio: "inherit"}); 0')).out, 'x\n');
}, 'javascript', 'bare'));

test('end of requests ends the runner, also a busy one', {timeout: LIMIT}, async () => {
  const runner = new Runner();
  await runner.setup();
  const cell = runner.start('console.log("busy"); for (;;);');
  cell.done.catch(() => {});
  await runner.until(event => event.event === 'out', cell.from);
  runner.process.stdin.end();
  assert.equal(await runner.ended, 'SIGKILL');
});
