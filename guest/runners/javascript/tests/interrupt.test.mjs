// SIGINT ends a cell in whatever it is, and the context lives on.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {LIMIT, withRunner} from './driver.mjs';

const STUCK = {
  'a busy loop': 'for (;;);',
  'a busy loop that catches everything': 'for (;;) { try { for (;;); } catch {} finally {} }',
  'a busy loop after an await': 'await 1; for (;;);',
  'an endless chain of awaits': 'for (;;) await null;',
  'an await of nothing': 'await new Promise(() => {});',
  'an await of a timer': 'await new Promise(done => setTimeout(done, 300_000));',
  'a busy timer': 'await new Promise(() => setTimeout(() => { for (;;); }, 5));',
  'a busy interval': 'await new Promise(() => setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 1));',
  'a busy immediate before others': 'await new Promise(() => { setImmediate(() => { for (;;); }); for (let i = 0; i < 9; i++) setImmediate(() => {}); });',
  'a busy tick': 'await new Promise(() => process.nextTick(() => { for (;;); }));',
  'a busy callback of a file': 'await new Promise(() => require("fs").readFile("/proc/self/stat", () => { for (;;); }));',
  'Atomics.wait': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
  'a child that is waited for': 'require("child_process").execSync("sleep 300");',
  'a child that is awaited': 'await new Promise(done => require("child_process").spawn("sleep", ["300"]).on("exit", () => {}));',
  'an expensive expression': '/^(a+)+$/.test("a".repeat(60) + "b");',
  'a loop that prints': 'for (;;) console.log("x".repeat(100));',
  'a value that takes for ever to show': '({[require("util").inspect.custom]() { for (;;); }});',
};

for (const [name, code] of Object.entries(STUCK)) {
  test(`an interrupt ends ${name}, twice, and keeps the state`, {timeout: LIMIT}, () => withRunner(async runner => {
    await runner.run('let kept = 41');
    for (let round = 0; round < 2; round++) {
      const cell = runner.start(`kept++; console.log("started");\n${code}`);
      await runner.until(event => event.event === 'out' && event.text.includes('started'), cell.from);
      runner.interrupt();
      const {error} = await cell.done;
      assert.match(error?.value, code.includes('execSync') ? /interrupted|failed/ : /^Script execution was interrupted by `SIGINT`$/);
      assert.equal((await runner.run('1 + 1')).text, '2');
    }
    assert.equal((await runner.run('kept')).text, '43');
    assert.equal((await runner.run('await new Promise(done => setImmediate(() => setTimeout(done, 5))); "loop lives"')).text, 'loop lives');
  }));
}

test('an interrupt between cells is ignored, many times', {timeout: LIMIT}, () => withRunner(async runner => {
  for (let round = 0; round < 20; round++) runner.interrupt();
  assert.equal((await runner.run('1 + 1')).text, '2');
  for (let round = 0; round < 20; round++) runner.interrupt();
  assert.equal((await runner.run('2 + 2')).text, '4');
}));

test('a storm of interrupts ends every cell once', {timeout: LIMIT}, () => withRunner(async runner => {
  for (let round = 0; round < 30; round++) {
    const cell = runner.start(round % 2 ? 'for (;;) console.log(1)' : 'await new Promise(() => {})');
    await runner.until(event => event.event === 'begin', cell.from);
    for (let i = 0; i < 5; i++) runner.interrupt();
    assert.ok((await cell.done).error);
  }
  assert.equal((await runner.run('1 + 1')).text, '2');
}));

test('an interrupt does not reach the next cell', {timeout: LIMIT}, () => withRunner(async runner => {
  for (let round = 0; round < 100; round++) {
    const cell = runner.start('1');
    if (round % 2) runner.interrupt();
    await cell.done;
    await runner.settled();
    const next = await runner.run('let sum = 0; for (let i = 0; i < 1e5; i++) sum += i; sum');
    assert.equal(next.text, '4999950000', JSON.stringify(next.error));
  }
}));

test('what an abandoned cell prints later is dropped', {timeout: LIMIT}, () => withRunner(async runner => {
  const cell = runner.start('console.log("started"); await new Promise(done => globalThis.wake = done); console.log("too late")');
  await runner.until(event => event.event === 'out', cell.from);
  runner.interrupt();
  assert.ok((await cell.done).error);
  const next = await runner.run('wake(); await new Promise(done => setTimeout(done, 50)); console.log("mine")');
  assert.equal(next.out, 'mine\n');
}));

test('variables of an interrupted cell are put back', {timeout: LIMIT}, () => withRunner(async runner => {
  const cell = runner.start('console.log(process.env.ONCE); for (;;);', {ONCE: 'yes'});
  await runner.until(event => event.event === 'out' && event.text === 'yes\n', cell.from);
  runner.interrupt();
  await cell.done;
  assert.equal((await runner.run('String(process.env.ONCE)')).text, 'undefined');
}));

test('a background loop that never ends is broken off when a cell waits behind it', {timeout: LIMIT}, () => withRunner(async runner => {
  await runner.run('setTimeout(() => { process.stdout.write("x".repeat(100_000)); for (;;); }, 5); 0');
  await runner.until(event => event.event === 'out');
  const cell = runner.start('1');
  await new Promise(done => setTimeout(done, 300)); // nothing is answered while the loop runs
  runner.interrupt();
  await cell.done;
  assert.equal((await runner.run('1 + 1')).text, '2');
}));

test('what an abandoned cell does later does not keep the next cell from running', {timeout: LIMIT}, () => withRunner(async runner => {
  const mark = path.join(os.tmpdir(), `cay-runner-mark-${process.pid}`);
  const cell = runner.start('console.log("started"); await new Promise(done => globalThis.wake = done); require("fs").writeFileSync(process.env.MARK, ""); for (;;);');
  await runner.until(event => event.event === 'out', cell.from);
  runner.interrupt();
  await cell.done;
  try {
    await runner.run(`process.env.MARK = ${JSON.stringify(mark)}; setTimeout(wake, 5); 0`);
    for (let round = 0; !fs.existsSync(mark) && round < 3000; round++) await new Promise(done => setTimeout(done, 10));
    assert.equal((await runner.run('1 + 1')).text, '2');
  } finally {
    fs.rmSync(mark, {force: true});
  }
}));

test('an interrupted runner does not burn the processor', {timeout: LIMIT}, () => withRunner(async runner => {
  const cell = runner.start(`console.log("started"); ${STUCK['a busy immediate before others']}`);
  await runner.until(event => event.event === 'out', cell.from);
  runner.interrupt();
  await cell.done;
  const ticks = () => fs.readFileSync(`/proc/${runner.process.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).reduce((a, b) => a + +b, 0);
  const before = ticks();
  await new Promise(done => setTimeout(done, 1500));
  assert.ok(ticks() - before < 75, `${ticks() - before} ticks in 1.5 s`);
}));
