// A table goes in, a chart comes out: as a picture to look at, and as data to draw it again with.
//
//   npm install @e2b/code-interpreter
//   eval "$(./cay env)"                  # in the directory of Cay
//   node data-analysis.mjs
import { writeFile } from 'node:fs/promises'
import { Sandbox } from '@e2b/code-interpreter'

const { E2B_API_URL, E2B_DOMAIN } = process.env
if (!E2B_API_URL && !E2B_DOMAIN) {
  console.error('E2B_API_URL and E2B_DOMAIN are not set, so this looks for E2B\'s cloud. For Cay: eval "$(./cay env)"')
}

const sales = `month,north,south
2026-01,120,80
2026-02,140,95
2026-03,110,130
2026-04,170,125
`

const sandbox = await Sandbox.create()
try {
  await sandbox.files.write('/home/user/sales.csv', sales)

  const table = await sandbox.runCode(`
import pandas as pd
sales = pd.read_csv('/home/user/sales.csv')
sales`)
  console.log('columns:', Object.keys(table.results[0].data).join(', '))

  const total = await sandbox.runCode(`int(sales[['north', 'south']].sum().sum())`)
  console.log('total:', total.text)

  const drawn = await sandbox.runCode(`
import matplotlib.pyplot as plt
plt.plot(sales['month'], sales['north'], label='north')
plt.plot(sales['month'], sales['south'], label='south')
plt.title('Sales')
plt.ylabel('Orders (thousands)')
plt.legend()
plt.show()`)
  if (drawn.error) throw new Error(drawn.error.traceback)
  const { chart, png } = drawn.results[0]
  await writeFile('sales.png', Buffer.from(png, 'base64'))
  console.log(`${chart.type} chart "${chart.title}" with ${chart.elements.map((line) => line.label).join(' and ')}: sales.png`)
} finally {
  await sandbox.kill()
}
