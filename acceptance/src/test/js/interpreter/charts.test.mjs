// What clients read out of matplotlib's figures. Ticks are given where the whole chart is compared: matplotlib may choose others.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { test } from '../cases.mjs'
import { run } from './client.mjs'
import { sandbox } from './sandboxes.mjs'

let box
before(async () => {
  box = await sandbox()
  await run(box, `
import datetime, math
import numpy as np
import matplotlib.pyplot as plt
from matplotlib import dates as mdates`)
})

/** The chart of the one figure that the code draws. */
async function chart(code) {
  const { results } = await run(box, code + '\nplt.show()')
  assert.equal(results.length, 1)
  assert.ok(results[0].png)
  return results[0].chart
}
const isDate = (text) => assert.ok(typeof text === 'string' && !Number.isNaN(Date.parse(text)), text)
const unlabelled = { x_label: null, y_label: null, x_unit: null, y_unit: null }

test('5.2 bar: a value for every name', async () => {
  const code = `
plt.bar(['Ada', 'Grace', 'Linus'], [3, 5, 4], label='Books')
plt.xlabel('Author'); plt.ylabel('Written (pieces)'); plt.title('Library')`
  assert.deepEqual(await chart(code), {
    type: 'bar',
    title: 'Library',
    x_label: 'Author',
    y_label: 'Written (pieces)',
    x_unit: null,
    y_unit: 'pieces',
    elements: [
      { label: 'Ada', group: 'Books', value: 3 },
      { label: 'Grace', group: 'Books', value: 5 },
      { label: 'Linus', group: 'Books', value: 4 },
    ],
  })
})

test('5.2 bar: containers without a name are numbered', async () => {
  const { elements } = await chart("plt.bar(['a', 'b'], [1, 2]); plt.bar(['a', 'b'], [3, 4], bottom=[1, 2])")
  assert.deepEqual(elements, [
    { label: 'a', group: 'Group 0', value: 1 },
    { label: 'b', group: 'Group 0', value: 2 },
    { label: 'a', group: 'Group 1', value: 3 },
    { label: 'b', group: 'Group 1', value: 4 },
  ])
})

test('5.2 bar: lying bars are turned', async () => {
  const code = "plt.barh(['apples', 'pears'], [2, 5], label='Harvest'); plt.xlabel('Amount [kg]'); plt.ylabel('Fruit')"
  assert.deepEqual(await chart(code), {
    type: 'bar',
    title: null,
    x_label: 'Fruit',
    y_label: 'Amount [kg]',
    x_unit: null,
    y_unit: 'kg',
    elements: [
      { label: 'apples', group: 'Harvest', value: 2 },
      { label: 'pears', group: 'Harvest', value: 5 },
    ],
  })
})

const BOXES = `
classes = {'A': [85, 90, 78, 92, 88], 'B': [95, 89, 76, 91, 84, 87], 'C': [75, 82, 88, 79, 86]}
def draw(**more): plt.boxplot(list(classes.values()), labels=list(classes), **more)
`
const BOX_ELEMENTS = [
  { label: 'A', min: 78, first_quartile: 85, median: 88, third_quartile: 90, max: 92, outliers: [] },
  { label: 'B', min: 84, first_quartile: 84.75, median: 88, third_quartile: 90.5, max: 95, outliers: [76] },
  { label: 'C', min: 75, first_quartile: 79, median: 82, third_quartile: 86, max: 88, outliers: [] },
]

test('5.2 box plot: quartiles, whiskers and outliers, exactly', async () => {
  const code = BOXES + "draw(patch_artist=True); plt.title('Grades'); plt.xlabel('Class'); plt.ylabel('Grade (points)')"
  assert.deepEqual(await chart(code), {
    type: 'box_and_whisker',
    title: 'Grades',
    x_label: 'Class',
    y_label: 'Grade (points)',
    x_unit: null,
    y_unit: 'points',
    elements: BOX_ELEMENTS,
  })
})

test('5.2 box plot: lying boxes are turned', async () => {
  const found = await chart(BOXES + "draw(patch_artist=True, vert=False); plt.xlabel('Grade'); plt.ylabel('Class')")
  assert.equal(found.type, 'box_and_whisker')
  assert.deepEqual([found.x_label, found.y_label], ['Class', 'Grade'])
  assert.deepEqual(found.elements, BOX_ELEMENTS)
})

test('5 edge: boxes drawn twice, first without patches, are counted once', async () => {
  const found = await chart(BOXES + 'draw(); draw(patch_artist=True)')
  assert.equal(found.type, 'box_and_whisker')
  assert.deepEqual(found.elements, BOX_ELEMENTS)
})

test('5 edge: a whisker without length loses nothing', async () => {
  const found = await chart("plt.boxplot([[1, 1, 1, 2, 3], [2, 3, 3, 3, 3]], labels=['low', 'high'], patch_artist=True)")
  assert.equal(found.type, 'box_and_whisker')
  assert.deepEqual(found.elements, [
    { label: 'low', min: 1, first_quartile: 1, median: 1, third_quartile: 2, max: 3, outliers: [] },
    { label: 'high', min: 3, first_quartile: 3, median: 3, third_quartile: 3, max: 3, outliers: [2] },
  ])
})

test('5.2 line: points, ticks, labels, scales', async () => {
  const code = `
plt.plot([0, 1, 2], [10, 20, 15], label='first')
plt.plot([0, 1, 2], [1, 2.5, 3])
plt.axhline(5)
plt.xticks([0, 1, 2]); plt.yticks([0, 10, 20])`
  assert.deepEqual(await chart(code), {
    type: 'line',
    title: null,
    ...unlabelled,
    x_ticks: [0, 1, 2],
    x_tick_labels: ['0', '1', '2'],
    x_scale: 'linear',
    y_ticks: [0, 10, 20],
    y_tick_labels: ['0', '10', '20'],
    y_scale: 'linear',
    elements: [
      { label: 'first', points: [[0, 10], [1, 20], [2, 15]] },
      { label: 'Line 1', points: [[0, 1], [1, 2.5], [2, 3]] },
    ],
  })
})

test('5 edge: two labelled lines with units in both labels', async () => {
  const found = await chart(`
x = np.linspace(0, 10, 100)
plt.plot(x, np.sin(x), label='sin(x)'); plt.plot(x, np.cos(x), label='cos(x)')
plt.xlabel('Time (s)'); plt.ylabel('Amplitude (Hz)'); plt.title('Waves'); plt.legend(); plt.grid(True)`)
  assert.equal(found.type, 'line')
  assert.deepEqual([found.title, found.x_label, found.x_unit, found.y_label, found.y_unit],
    ['Waves', 'Time (s)', 's', 'Amplitude (Hz)', 'Hz'])
  assert.deepEqual(found.elements.map(({ label, points }) => [label, points.length]), [['sin(x)', 100], ['cos(x)', 100]])
  assert.deepEqual(found.elements[1].points[0], [0, 1])
  for (const tick of [...found.x_ticks, ...found.y_ticks]) assert.equal(typeof tick, 'number')
  for (const label of [...found.x_tick_labels, ...found.y_tick_labels]) assert.equal(typeof label, 'string')
})

test('5 edge: a line over dates', async () => {
  const found = await chart(`
days = [datetime.date(2023, 9, 1) + datetime.timedelta(seconds=i) for i in range(100)]
plt.plot(days, np.sin(np.arange(100)), label='signal'); plt.xlabel('Time (s)'); plt.ylabel('Amplitude (Hz)')`)
  assert.equal(found.type, 'line')
  assert.deepEqual([found.x_scale, found.y_scale], ['datetime', 'linear'])
  found.x_ticks.forEach(isDate)
  assert.equal(found.elements[0].points.length, 100)
  assert.match(found.elements[0].points[0][0], /^2023-09-01/)
  assert.equal(typeof found.elements[0].points[0][1], 'number')
})

test('5.2 dates of every kind are ISO texts', async () => {
  const first = async (list) => (await chart(`plt.plot(${list}, [1, 2])`)).elements[0].points[0][0]
  assert.equal(await first('[datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.datetime(2024, 1, 3)]'), '2024-01-02T03:04:05')
  assert.equal(await first("np.array(['2024-01-02T03:04:05.678', '2024-01-03'], dtype='datetime64[ms]')"), '2024-01-02T03:04:05')
  assert.match(await first('[datetime.date(2024, 1, 2), datetime.date(2024, 1, 3)]'), /^2024-01-02/)
  assert.match(await first("__import__('pandas').to_datetime(['2024-01-02 03:04:05', '2024-01-03'])"), /^2024-01-02T03:04:05/)
})

test('5 edge: a line with texts as y values', async () => {
  const found = await chart("plt.plot([1, 2, 3], ['low', 'high', 'low'])")
  assert.deepEqual([found.type, found.x_scale, found.y_scale], ['line', 'linear', 'categorical'])
  assert.deepEqual(found.elements, [{ label: 'Line 0', points: [[1, 'low'], [2, 'high'], [3, 'low']] }])
  assert.deepEqual([found.y_ticks, found.y_tick_labels], [[0, 1], ['low', 'high']])
})

test('5 edge: a logarithmic axis with legend and grid', async () => {
  const found = await chart(`
x = np.linspace(1, 100, 100)
plt.plot(x, np.exp(x / 20), label='growth'); plt.yscale('log'); plt.legend(); plt.grid(True)
plt.xlabel('X-axis'); plt.ylabel('Y-axis (log scale)'); plt.title('Growth')`)
  assert.deepEqual([found.type, found.x_scale, found.y_scale], ['line', 'linear', 'log'])
  assert.deepEqual([found.x_unit, found.y_unit], [null, 'log scale'])
  for (const tick of found.y_ticks) assert.equal(typeof tick, 'number')
  assert.equal(found.elements[0].points.length, 100)
})

test('5 edge: a pie with a start angle and percentages', async () => {
  const code = "plt.pie([90, 10], labels=['Big', 'Small'], autopct='%1.1f%%', startangle=90); plt.axis('equal'); plt.title('Parts')"
  assert.deepEqual(await chart(code), {
    type: 'pie',
    title: 'Parts',
    elements: [
      { label: 'Big', angle: 324, radius: 1 },
      { label: 'Small', angle: 36, radius: 1 },
    ],
  })
})

test('5.2 scatter: points, ticks, labels, scales', async () => {
  const code = `
plt.scatter([1, 2], [3, 4.5], label='some'); plt.scatter([5], [6], label='other'); plt.axvline(3)
plt.xlabel('A'); plt.ylabel('B'); plt.xticks([1, 5], ['one', 'five']); plt.yticks([3, 6])`
  assert.deepEqual(await chart(code), {
    type: 'scatter',
    title: null,
    x_label: 'A',
    y_label: 'B',
    x_unit: null,
    y_unit: null,
    x_ticks: [1, 5],
    x_tick_labels: ['one', 'five'],
    x_scale: 'linear',
    y_ticks: [3, 6],
    y_tick_labels: ['3', '6'],
    y_scale: 'linear',
    elements: [
      { label: 'some', points: [[1, 3], [2, 4.5]] },
      { label: 'other', points: [[5, 6]] },
    ],
  })
})

test('5 edge: two sets of points, without a title', async () => {
  const found = await chart(`
plt.scatter(range(5), range(5), c='blue', label='few'); plt.scatter(range(10), range(10), c='red', label='many')`)
  assert.deepEqual([found.type, found.title], ['scatter', null])
  assert.deepEqual(found.elements.map(({ label, points }) => [label, points.length]), [['few', 5], ['many', 10]])
})

test('5 edge: two axes are a superchart', async () => {
  const code = `
figure, (left, right) = plt.subplots(1, 2)
figure.suptitle('Both'); left.grid(True); right.grid(True)
left.plot([0, 1], [2, 4]); left.set_xticks([0, 1]); left.set_yticks([2, 4])
right.scatter([1], [2], label='dot'); right.set_xticks([1]); right.set_yticks([2]); right.set_xlabel('X (m)'); right.set_ylabel('Y')
right.set_title('Right')`
  assert.deepEqual(await chart(code), {
    type: 'superchart',
    title: 'Both',
    elements: [
      {
        type: 'line', title: null, ...unlabelled,
        x_ticks: [0, 1], x_tick_labels: ['0', '1'], x_scale: 'linear', y_ticks: [2, 4], y_tick_labels: ['2', '4'], y_scale: 'linear',
        elements: [{ label: 'Line 0', points: [[0, 2], [1, 4]] }],
      },
      {
        type: 'scatter', title: 'Right', x_label: 'X (m)', y_label: 'Y', x_unit: 'm', y_unit: null,
        x_ticks: [1], x_tick_labels: ['1'], x_scale: 'linear', y_ticks: [2], y_tick_labels: ['2'], y_scale: 'linear',
        elements: [{ label: 'dot', points: [[1, 2]] }],
      },
    ],
  })
})

test('5 edge: circles are unknown', async () => {
  const code = `
figure, axes = plt.subplots()
axes.add_artist(plt.Circle((0.3, 0.3), 0.2)); axes.add_artist(plt.Circle((0.7, 0.7), 0.2)); axes.grid(True); plt.title('Circles')`
  assert.deepEqual(await chart(code), { type: 'unknown', title: 'Circles', elements: [] })
})

test('5 edge: blank axes give a picture and no chart', async () => {
  assert.deepEqual(await chart('plt.subplots(2, 2)') ?? {}, {})
})

test('5.1 kinds that mix are unknown', async () => {
  assert.equal((await chart('plt.bar([1, 2], [3, 4]); plt.scatter([1], [2])')).type, 'unknown')
  assert.equal((await chart("plt.bar(['a'], [1]); plt.bar(['b'], [2]); plt.axhline(1); plt.text(0, 1, 'note')")).type, 'bar')
})

test('5 edge: scales are told by converter, ticks and name', async () => {
  const scale = async (code) => (await chart(code)).x_scale
  assert.equal(await scale("plt.plot([1, 2, 3], [1, 2, 3]); plt.xticks([1, 2, 3], ['1', '2', '3'])"), 'linear')
  assert.equal(await scale("plt.plot([0, 1, 2], [1, 2, 3]); plt.xticks([0, 1, 2], ['no', 'maybe', 'yes'])"), 'categorical')
  assert.equal(await scale("plt.plot([1, 10, 100], [1, 2, 3]); plt.xscale('log')"), 'log')
  assert.equal(await scale("plt.plot([-10, 0, 10], [1, 2, 3]); plt.xscale('symlog')"), 'symlog')
  assert.equal(await scale("plt.plot([0.1, 0.5, 0.9], [1, 2, 3]); plt.xscale('logit')"), 'logit')
  assert.equal(await scale("plt.plot([1, 2, 3], [1, 2, 3]); plt.xscale('function', functions=(np.sqrt, np.square))"), 'function')
  assert.equal(await scale("plt.plot([1, 2, 3], [1, 2, 3]); plt.xscale('asinh')"), 'asinh')
  const days = 'days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]; plt.plot(days, [1, 2]);'
  assert.equal(await scale(`${days} plt.xticks(days, ['first', 'second'])`), 'datetime')
})

test('5 edge: lines of a grid are left out, others are not', async () => {
  const { type, elements } = await chart(`
plt.plot([0, 1], [2, 2]); plt.plot([1, 1], [0, 3]); plt.plot([0, 1], [0, 1]); plt.plot([2, 2, 2, 2], [0, 1, 2, 3])`)
  assert.equal(type, 'line')
  assert.deepEqual(elements, [
    { label: 'Line 2', points: [[0, 0], [1, 1]] },
    { label: 'Line 3', points: [[2, 0], [2, 1], [2, 2], [2, 3]] },
  ])
})

test('5 values that are no numbers break no chart', async () => {
  const found = await chart('plt.plot([0, 1, 2], [1, math.nan, 3])')
  assert.equal(found.type, 'line')
  assert.deepEqual(found.elements[0].points.length, 3)
  assert.deepEqual(found.elements[0].points[2], [2, 3])
})

test('5 a million points do not choke anybody', async () => {
  const found = await chart('plt.plot(np.arange(1_000_000), np.arange(1_000_000) % 7)')
  assert.ok(['line', undefined].includes(found?.type))
  assert.equal((await run(box, '1 + 1')).text, '2')
})
