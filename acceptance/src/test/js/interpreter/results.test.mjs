// What Python cells show: texts, pictures, tables, and whatever else has a type.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from '../cases.mjs'
import { printed, run } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
  await run(box, 'from IPython.display import *\nimport numpy as np, pandas as pd, math')
})

const only = async (code) => {
  const { results } = await run(box, code)
  assert.equal(results.length, 1)
  return results[0]
}
const isPicture = (base64, mark) => assert.equal(Buffer.from(base64, 'base64').subarray(0, mark.length).toString('latin1'), mark)
const PNG = '\x89PNG'

test('4 the last expression is the main result', async () => {
  const execution = await run(box, 'display(1); 2')
  assert.deepEqual(execution.results.map(({ text, isMainResult }) => [text, isMainResult]), [['1', false], ['2', true]])
  assert.equal(execution.text, '2')
})

test('4 an assignment, a None and a semicolon show nothing', async () => {
  for (const code of ['y = 1', 'None', '1;', '', '# nothing', '\n\n']) {
    assert.deepEqual((await run(box, code)).results, [], code)
  }
})

test('4 one pair of quotes around a text is cut off', async () => {
  for (const [code, text] of [["'hello'", 'hello'], [`"it's"`, "it's"], [`'"double"'`, '"double"'], ["''", '']]) {
    assert.equal((await only(code)).text, text)
  }
})

test('4 html, markdown, svg, latex, javascript have fields of their own', async () => {
  assert.equal((await only("HTML('<b>ünï</b>')")).html, '<b>ünï</b>')
  assert.equal((await only("Markdown('# one')")).markdown, '# one')
  assert.equal((await only("Latex('$x^2$')")).latex, '$x^2$')
  assert.match((await only(`SVG('<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>')`)).svg, /^<svg.*<g\s*\/>\s*<\/svg>$/s)
  assert.equal((await only("Javascript('f()')")).javascript, 'f()')
})

test('4 a bundle has the types it was given and no other', async () => {
  const latex = await only("display({'text/latex': r'\\frac{1}{2}'}, raw=True)")
  assert.deepEqual(latex.formats(), ['latex'])
  assert.equal(latex.latex, '\\frac{1}{2}')
  assert.equal(latex.text, undefined)
  assert.equal(latex.isMainResult, false)
  const all = await only(`display({
    'text/plain': 'p', 'text/html': 'h', 'text/markdown': 'm', 'image/svg+xml': '<svg/>', 'image/png': 'cG5n', 'image/jpeg': 'anBn',
    'application/pdf': 'cGRm', 'text/latex': 'l', 'application/json': {'a': [1, None]}, 'application/javascript': 'j()',
  }, raw=True)`)
  assert.deepEqual(all.formats(), ['html', 'markdown', 'svg', 'png', 'jpeg', 'pdf', 'latex', 'json', 'javascript'])
  assert.deepEqual(
    [all.text, all.html, all.markdown, all.svg, all.png, all.jpeg, all.pdf, all.latex, all.json, all.javascript],
    ['p', 'h', 'm', '<svg/>', 'cG5n', 'anBn', 'cGRm', 'l', { a: [1, null] }, 'j()'])
  assert.deepEqual(all.extra, {})
})

test('4 types without a field are told apart', async () => {
  const result = await only("display({'text/plain': 'x', 'application/vnd.made-up+json': {'a': 1}}, raw=True)")
  assert.deepEqual(result.raw.extra, { 'application/vnd.made-up+json': { a: 1 } })
  assert.deepEqual(result.extra, {})
})

test('4 bytes of pictures and documents are base64', async () => {
  const result = await only(`display({'image/jpeg': b'\\xff\\xd8\\xff\\x00', 'application/pdf': b'%PDF-1.4'}, raw=True)`)
  isPicture(result.jpeg, '\xff\xd8\xff')
  isPicture(result.pdf, '%PDF-1.4')
  const image = await only(`
import io
from PIL import Image as Picture
buffer = io.BytesIO(); Picture.new('RGB', (4, 4)).save(buffer, 'JPEG')
Image(data=buffer.getvalue(), format='jpeg')`)
  isPicture(image.jpeg, '\xff\xd8\xff')
})

test('4 objects may show themselves', async () => {
  await run(box, `
class Shown:
    def _repr_html_(self): return '<i>shown</i>'
    def _repr_png_(self): return b'\\x89PNG....'
    def __repr__(self): return 'plain'
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/markdown': '*b*'}`)
  const shown = await only('Shown()')
  assert.deepEqual([shown.text, shown.html], ['plain', '<i>shown</i>'])
  isPicture(shown.png, PNG)
  assert.equal((await only('Bundle()')).markdown, '*b*')
})

test('4 lists and dictionaries are JSON as well', async () => {
  assert.deepEqual((await only("[1, 'two', None, [True]]")).json, [1, 'two', null, [true]])
  assert.deepEqual((await only("{'a': {'b': 1.5}}")).json, { a: { b: 1.5 } })
  assert.deepEqual((await only("{1: 2, 'a': (3, 4)}")).json, { 1: 2, a: [3, 4] })
  assert.deepEqual((await only('[np.int64(3), np.float64(1.5), np.array([1, 2])]')).json, [3, 1.5, [1, 2]])
  assert.deepEqual((await only("JSON({'a': 1})")).json, { a: 1 })
})

test('4 numbers that JSON does not know break nothing', async () => {
  const result = await only("[math.nan, math.inf, -math.inf, 10**400]")
  assert.equal(result.json?.length ?? 4, 4)
  assert.match(result.text, /^\[nan,\s+inf,\s+-inf,\s+1000/)
  await only("d = {}; d['self'] = d; d")
  for (const depth of [150, 250, 5000]) await box.runCode(`deep = []\nfor _ in range(${depth}): deep = [deep]\ndeep`)
  await only('{(3, 4): 5}')
  await only("[object(), {1, 2}, b'bytes', lambda: 1]")
  await only("'\\ud800'")
  assert.equal((await run(box, '1 + 1')).text, '2')
})

test('4 long sequences are shown whole', async () => {
  const { text } = await only('list(range(5000))')
  assert.match(text, /4999\]$/)
  assert.doesNotMatch(text, /\.\.\./)
})

test('4 what is printed is untouched, also separators of lines', async () => {
  const odd = 'a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg\rh\u0000i\u007fj😀\ufeff'
  assert.equal(printed(await run(box, `print(${JSON.stringify(odd)}, end='')`)), odd)
})

test('4 results and what is printed keep their order', async () => {
  const order = []
  await run(box, 'import sys\nfor i in range(3):\n    print(i); display(i); print(i, file=sys.stderr)', {
    onStdout: ({ line }) => { order.push(`out ${line.trim()}`) },
    onStderr: ({ line }) => { order.push(`err ${line.trim()}`) },
    onResult: ({ text }) => { order.push(`result ${text}`) },
  })
  assert.deepEqual(order, [0, 1, 2].flatMap((i) => [`out ${i}`, `result ${i}`, `err ${i}`]))
})

test('4.1 errors: name, exact value, traceback without colours', async () => {
  const { error, logs } = await box.runCode('print("before")\nx = 1\nundefined_thing')
  assert.equal(error.name, 'NameError')
  assert.equal(error.value, "name 'undefined_thing' is not defined")
  assert.match(error.traceback, /undefined_thing/)
  assert.match(error.traceback, /3/)
  assert.doesNotMatch(error.traceback, /\u001b/)
  assert.deepEqual(logs.stdout, ['before\n'])
})

test('4.1 errors of every kind', async () => {
  const name = async (code) => (await box.runCode(code)).error?.name
  assert.equal(await name('1 / 0'), 'ZeroDivisionError')
  assert.equal(await name('if'), 'SyntaxError')
  assert.equal(await name('  1\n 2'), 'IndentationError')
  assert.equal(await name('import sys; sys.exit(3)'), 'SystemExit')
  assert.equal(await name('raise KeyboardInterrupt'), 'KeyboardInterrupt')
  assert.equal(await name('class Mine(BaseException): pass\nraise Mine("x")'), 'Mine')
  assert.equal(await name('def f(): return f()\nf()'), 'RecursionError')
  assert.equal(await name('async def f(): raise ValueError("x")\nawait f()'), 'ValueError')
  assert.equal((await run(box, '1 + 1')).text, '2')
})

test('4.2 a table has its columns as data', async () => {
  const result = await only(`pd.DataFrame({'a': [1, 2, 3], 'b': ['x', None, 'z'],
    'when': pd.to_datetime(['2024-01-02 03:04:05', '2024-01-03', '2024-01-04'])}, index=[7, 8, 9])`)
  assert.deepEqual(Object.keys(result.data), ['a', 'b', 'when'])
  assert.deepEqual(result.data.a, [1, 2, 3])
  assert.deepEqual([result.data.b[0], result.data.b[2]], ['x', 'z'])
  assert.match(result.data.when[0], /^2024-01-02T03:04:05/)
  assert.match(result.html, /<table/)
  assert.match(result.text, /a +b +when/)
  assert.ok(result.formats().includes('data'))
})

test('4.2 a table with odd values and names', async () => {
  const { data } = await only(`pd.DataFrame({1: [1.5, math.nan, math.inf], ('x', 'y'): [pd.NaT, pd.Timedelta(1), None],
    'c': pd.Categorical(['p', 'q', 'p']), 'o': [object(), [1], {'k': 1}]})`)
  assert.deepEqual(data['1'], [1.5, 'nan', 'inf'])
  assert.deepEqual(data.c, ['p', 'q', 'p'])
  assert.equal(Object.keys(data).length, 4)
  const empty = await only('pd.DataFrame()')
  assert.deepEqual(empty.data ?? {}, {})
  assert.equal((await only("pd.Series([1, 2])")).data, undefined)
  assert.match((await only("display(pd.DataFrame({'a': [1]}))")).html, /<table/)
})

test('4 matplotlib: show and the end of a cell publish', async () => {
  const figure = await only('import matplotlib.pyplot as plt\nplt.plot([1, 2]);\nplt.show()')
  isPicture(figure.png, PNG)
  assert.match(figure.text, /^<Figure size/)
  assert.equal(figure.chart.type, 'line')
  assert.deepEqual(figure.extra, {})
  assert.deepEqual(figure.raw.extra ?? {}, {})
  const { results } = await run(box, 'plt.plot([1, 2]); plt.show(); 42')
  assert.equal(results.length, 2)
  assert.equal(results[1].text, '42')
  isPicture((await only('plt.plot([1, 2]);')).png, PNG)
  assert.equal((await run(box, 'plt.figure(); plt.plot([1]); plt.figure(); plt.plot([2]);')).results.length, 2)
  assert.deepEqual((await run(box, 'x = 1')).results, [], 'nothing is left of the cells before')
})

test('4 Pillow: show, save and the last expression publish', async () => {
  await run(box, "from PIL import Image as Picture\nimage = Picture.new('RGB', (60, 30), color='red')")
  for (const code of ['image', 'image.show()', "image.save('picture.png')"]) {
    const result = await only(code)
    isPicture(result.png, PNG)
  }
  assert.equal(await box.files.exists('/home/user/picture.png'), true)
})

test('4 magics: a shell, its terminal, the time', async () => {
  assert.equal(printed(await run(box, '!pwd')).trim(), '/home/user')
  assert.equal(printed(await run(box, '!echo one; echo two >&2')).replaceAll('\r', ''), 'one\ntwo\n')
  assert.match(printed(await run(box, '%time sum(range(10))')), /Wall time/)
  assert.equal(printed(await run(box, '%%bash\necho from bash')), 'from bash\n')
  assert.equal((await run(box, "out = !echo a\nout[0]")).text, 'a')
  assert.deepEqual((await run(box, '%%capture kept\nprint("hidden")')).logs.stdout, [])
  assert.equal((await run(box, 'kept.stdout')).text, 'hidden\n'.replace('\n', '\\n'))
})

test('4 input says that nobody can answer', async () => {
  assert.ok((await box.runCode('input()')).error)
  assert.equal((await run(box, '1 + 1')).text, '2')
})

test('3 async code: await, tasks that go on between cells', async () => {
  await run(box, `
import asyncio
async def count():
    global ticks
    ticks = 0
    while ticks < 10_000: ticks += 1; await asyncio.sleep(0)
task = asyncio.create_task(count())
await asyncio.sleep(0.01)`)
  assert.equal((await run(box, 'await task; ticks')).text, '10000')
})
