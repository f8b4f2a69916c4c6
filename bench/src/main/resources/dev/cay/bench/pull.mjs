// Builds a template from an image, and tells how long the daemon took to pull and unpack it by the times in its own log.
import { e2b, tell } from './client.mjs'

const { Template } = e2b
const [, , image] = process.argv
const lines = []
await Template.build(Template().fromImage(image), 'bench-pull', { onBuildLogs: (line) => lines.push(line) })
const at = (words) => {
  const line = lines.find((each) => each.message.includes(words))
  if (!line) throw new Error(`no line of the build has "${words}": ${lines.map((each) => each.message).join('; ')}`)
  return new Date(line.timestamp)
}
tell({ seconds: (at('] Image sha256:') - at('] Pulling image')) / 1000 })
