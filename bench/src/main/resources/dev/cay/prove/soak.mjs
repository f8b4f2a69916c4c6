// Uses sandboxes as agents do, so many per second, until told to finish. Rests when asked to, so that what the daemon
// holds then is what it holds for good.
import { Sandbox, order, pause, tell, until } from './client.mjs'

const perSecond = Number(process.argv[2])
let done = 0
let failed = 0
let open = 0
let resting = false

async function round() {
  open++
  let box
  try {
    box = await Sandbox.create({ timeoutMs: 120_000, envs: { WHO: 'soak' } })
    const { stdout } = await box.commands.run('echo $WHO; head -c 100000 /dev/urandom | base64 > /tmp/noise')
    if (stdout !== 'soak\n') throw new Error('said ' + stdout)
    await box.files.write('/home/user/file', 'x'.repeat(10_000))
    if ((await box.files.read('/home/user/file')).length !== 10_000) throw new Error('read something else')
    await box.files.list('/home/user')
    done++
  } catch (e) {
    failed++
    console.error(e)
  } finally {
    await box?.kill().catch((e) => console.error(e))
    open--
  }
}

const clock = setInterval(() => {
  // One that cannot keep the pace does not pile up work.
  if (!resting && open < 4 * perSecond) round()
}, 1000 / perSecond)
tell({ ready: true })
for (let said = await order(); said !== 'finish'; said = await order()) {
  resting = said === 'rest'
  if (resting) {
    await until('a rest', () => open === 0, 60_000)
    await pause(500)
    tell({ done, failed })
  }
}
clearInterval(clock)
resting = true
await until('the end', () => open === 0, 60_000)
tell({ done, failed })
process.exit(0)
