// Claude Code itself with a scripted model: the tools as it finds and calls them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startModel } from './model.mjs'
import { startServer } from './server.mjs'

const require = createRequire(process.env.CAY_CLIENT + '/')
const claude = require.resolve(`@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`)
const [command, ...args] = JSON.parse(process.env.CAY_MCP)
const LIMIT = 180000

let directory
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'claude-'))
})
after(async () => rm(directory, { recursive: true, force: true }))

const idOf = (results) => JSON.parse(results[0].text).sandboxId
const CALLS = [
  { tool: 'mcp__cay__create_sandbox', input: { timeoutMs: 120000 } },
  { tool: 'mcp__cay__write_file', input: (done) => ({ sandboxId: idOf(done), filePath: 'n.txt', fileContents: '41' }) },
  { tool: 'mcp__cay__run_code', input: (done) => ({ sandboxId: idOf(done), code: "int(open('/home/user/n.txt').read()) + 1" }) },
  { tool: 'mcp__cay__run_command', input: (done) => ({ sandboxId: idOf(done), command: 'cat n.txt; exit 3' }) },
  { tool: 'mcp__cay__read_file', input: { sandboxId: 'nope', filePath: 'n.txt' } },
  { tool: 'mcp__cay__kill_sandbox', input: (done) => ({ sandboxId: idOf(done) }) },
]

async function run(model, ...words) {
  return runWith({}, model, ...words)
}

async function runWith(more, model, ...words) {
  const env = {
    ...process.env,
    HOME: directory,
    ANTHROPIC_BASE_URL: model?.url ?? 'http://127.0.0.1:9',
    ANTHROPIC_API_KEY: 'scripted',
    ENABLE_TOOL_SEARCH: 'false',
    IS_SANDBOX: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    MCP_TIMEOUT: '60000',
    ...more,
  }
  const child = spawn(claude, words, { env, cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  const late = setTimeout(() => child.kill('SIGKILL'), LIMIT)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const code = await new Promise((ended) => child.on('close', ended))
  clearTimeout(late)
  assert.equal(code, 0, output)
  return output
}

async function work(...words) {
  const model = await startModel(CALLS)
  try {
    const output = await run(model, '-p', 'do what is to be done', '--dangerously-skip-permissions', ...words)
    assert.match(output, /made 6 calls/)
    return model.results
  } finally {
    await model.close()
  }
}

function check(results) {
  const told = results.map((result) => (result.isError ? result.text : JSON.parse(result.text)))
  assert.equal(told[1].size, 2)
  assert.equal(told[2].text, '42')
  assert.deepEqual([told[3].stdout, told[3].exit_code], ['41', 3])
  assert.ok(results[4].isError)
  assert.match(told[4], /Sandbox nope not found/)
  assert.equal(told[5].stats.active_sandboxes, 0)
}

test('starts cay mcp by itself', async () => {
  const servers = { mcpServers: { cay: { command, args } } }
  check(await work('--mcp-config', JSON.stringify(servers), '--strict-mcp-config'))
})

test('knows a server over HTTP when it was added', async () => {
  const server = await startServer()
  try {
    const header = `Authorization: Bearer ${process.env.E2B_API_KEY}`
    const added = await run(null, 'mcp', 'add', '--transport', 'http', 'cay', server.url.href, '--header', header)
    assert.match(added, /Added HTTP MCP server cay/)
    assert.match(await run(null, 'mcp', 'list'), /cay: .*Connected/)
    check(await work())
  } finally {
    await server.stop()
  }
})

test('asks for the tools it needs when it lists none', async () => {
  const server = await startServer()
  const model = await startModel([
    { tool: 'ToolSearch', input: { query: 'select:mcp__cay__list_sandbox_ids' } },
    { tool: 'mcp__cay__list_sandbox_ids' },
  ])
  try {
    const entry = { type: 'http', url: server.url.href, headers: { Authorization: `Bearer ${process.env.E2B_API_KEY}` } }
    const words = ['--mcp-config', JSON.stringify({ mcpServers: { cay: entry } }), '--strict-mcp-config']
    await runWith({ ENABLE_TOOL_SEARCH: 'true' }, model, '-p', 'go', '--dangerously-skip-permissions', ...words)
    assert.equal(JSON.parse(model.results[1].text).max_sandboxes, 10)
  } finally {
    await model.close()
    await server.stop()
  }
})
