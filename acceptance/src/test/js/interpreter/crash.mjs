// Follows contexts across a crash of the daemon. Speaks with the harness by lines: says `ready`, hears `up`, says a verdict.
import { createInterface } from 'node:readline'
import { until } from '../client.mjs'
import { COUNT, Sandbox, begin, counted, run, said } from './client.mjs'
import { LANGUAGES } from './languages.mjs'

const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const box = await Sandbox.create({ timeoutMs: 600_000 })
const languages = (await box.files.read('/opt/cay/languages')).split('\n').filter((name) => name in LANGUAGES)
// A busy machine takes its time to start all of them.
const timeoutMs = 300_000
for (const language of languages) await run(box, LANGUAGES[language].store, { language, timeoutMs })
const context = await box.createCodeContext({ cwd: '/tmp' })
const { running } = await begin(box, COUNT, { context, timeoutMs: 0 })
const outcome = running.then(() => 'ended', (error) => `broken: ${error.message}`)
const before = await box.listCodeContexts()
console.log('ready')

await heard.next()
const broken = await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, 10_000, 'hangs'))])
const after = await box.listCodeContexts()
const first = await counted(box)
const goesOn = await until('the count to go on', async () => (await counted(box)) > first + 200, 60_000).then(() => true, () => false)
const recalled = {}
for (const language of languages) recalled[language] = said(await box.runCode(LANGUAGES[language].recall, { language, timeoutMs }))
const next = await box.runCode('count', { context, timeoutMs })
const idle = await box.runCode('1 + 1', { context, timeoutMs })
await box.kill()
console.log(JSON.stringify({
  broken,
  sameContexts: JSON.stringify(before) === JSON.stringify(after),
  goesOn,
  lost: languages.filter((language) => recalled[language] !== LANGUAGES[language].recalls),
  languages: languages.length,
  count: Number(next.text ?? -1),
  next: idle.text ?? null,
}))
process.exit(0)
