// Stands in for GitHub's MCP server: same name, same way to ask for a token, issues in memory. On stdio, one file, small
// enough for `node --input-type=module -e SOURCE`.
import { createInterface } from 'node:readline'

if (!process.env.GITHUB_PERSONAL_ACCESS_TOKEN) {
  console.error('Error: GITHUB_PERSONAL_ACCESS_TOKEN not set')
  process.exit(1)
}
const string = { type: 'string' }
const tool = (name, description, ...required) => ({
  name, description, inputSchema: { type: 'object', required, properties: { ...Object.fromEntries(required.map((r) => [r, string])), body: string } },
})
const tools = [
  tool('create_issue', 'Create a new issue in a GitHub repository', 'owner', 'repo', 'title'),
  tool('list_issues', 'List issues of a GitHub repository', 'owner', 'repo'),
]
const issues = []
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: /^202[45]-/.test(protocolVersion) ? protocolVersion : '2025-11-25',
    capabilities: { tools: {} }, serverInfo: { name: 'github-official', version: '0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: given = {} }) => {
    const called = tools.find((one) => one.name === name)
    if (!called) throw Object.assign(new Error(`unknown tool ${name}`), { code: -32602 })
    const text = (value, isError) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }], isError })
    const missing = called.inputSchema.required.filter((one) => !given[one])
    if (missing.length) return text(`missing required parameter: ${missing}`, true)
    const { owner, repo, title, body = '' } = given
    const of = issues.filter((one) => one.owner === owner && one.repo === repo)
    if (name === 'list_issues') return text(of)
    const number = of.length + 1
    issues.push({ owner, repo, number, title, body, state: 'open', html_url: `https://github.com/${owner}/${repo}/issues/${number}` })
    return text(issues.at(-1))
  },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  if (!line.trim()) return
  let id = null
  const send = (rest) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...rest }) + '\n')
  try {
    const message = JSON.parse(line)
    if (message.id === undefined || !message.method) return
    id = message.id
    if (!Object.hasOwn(methods, message.method)) throw Object.assign(new Error('method not found'), { code: -32601 })
    send({ result: methods[message.method](message.params ?? {}) })
  } catch (e) {
    send({ error: { code: e.code ?? -32700, message: e.message } })
  }
})
