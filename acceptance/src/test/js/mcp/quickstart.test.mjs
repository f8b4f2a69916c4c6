// The quickstart of E2B's documentation: Notion and GitHub behind one address, used from outside and by Claude inside.
//
// The platform starts both servers for keys `notion` and `githubOfficial` as its configuration says: the real Notion server
// against notion-api.mjs, and github-standin.mjs. CAY_NOTION_API is where the former can be asked what it heard.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { Sandbox, atLeast, until } from '../client.mjs'
import { connect, create, textOf, tokenOf, urlOf } from './gateway.mjs'

const NOTION_TOKEN = 'ntn_quickstart'
const GITHUB_TOKEN = 'ghp_quickstart'

let sandbox
before(async () => {
  sandbox = await create({
    mcp: {
      notion: { internalIntegrationToken: NOTION_TOKEN },
      githubOfficial: { githubPersonalAccessToken: GITHUB_TOKEN },
    },
    timeoutMs: 900_000,
  })
})
after(async () => sandbox?.kill())

test('the address and the token are where the client looks for them', async () => {
  assert.match(urlOf(sandbox), new RegExp(`^https://50005-${sandbox.sandboxId}\\..+/mcp$`))
  const token = await tokenOf(sandbox)
  assert.match(token, /^[0-9a-f-]{36}$/)
  const again = await Sandbox.connect(sandbox.sandboxId)
  assert.equal((await tokenOf(again)).trim(), token)
})

test('tools of both servers, with the names E2B gives them', async () => {
  const client = await connect(sandbox)
  const list = async () => (await client.listTools()).tools.map((tool) => tool.name)
  // Notion's package may have to be fetched first, and GitHub's tools are listed meanwhile.
  const names = await until('tools of Notion', async () => {
    const some = await list()
    return some.some((name) => name.startsWith('notion-')) && some
  }, 300_000)
  assert.ok(names.includes('notion-API-post-search'), names.join())
  assert.ok(names.includes('github-official-create_issue'), names.join())
  assert.ok(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)), names.join())
  await client.close()
})

test('a call reaches the server with the credential it was given', async () => {
  const client = await connect(sandbox)
  const found = await client.callTool({ name: 'notion-API-post-search', arguments: { query: 'road' } })
  assert.match(textOf(found), /Roadmap/)
  const made = await client.callTool({
    name: 'github-official-create_issue',
    arguments: { owner: 'cay', repo: 'demo', title: 'Roadmap', body: 'from Notion' },
  })
  assert.match(textOf(made), /cay\/demo\/issues\/1/)
  if (process.env.CAY_NOTION_API) {
    const requests = await (await fetch(`${process.env.CAY_NOTION_API}/requests`)).json()
    const search = requests.find((request) => request.path === '/v1/search')
    assert.equal(search.authorization, `Bearer ${NOTION_TOKEN}`)
  }
  await client.close()
})

test('nobody comes in without the token', async () => {
  for (const headers of [{}, { Authorization: 'Bearer wrong' }, { Authorization: `Basic ${await tokenOf(sandbox)}` }]) {
    const answer = await fetch(urlOf(sandbox), { method: 'POST', headers, body: '{}' })
    assert.equal(answer.status, 401)
  }
})

test('Claude inside the sandbox takes the gateway', async () => {
  const token = await tokenOf(sandbox)
  const added = await sandbox.commands.run(
    `claude mcp add --transport http e2b-mcp-gateway ${urlOf(sandbox)} --header 'Authorization: Bearer ${token}'`,
    { timeoutMs: 60_000 },
  )
  assert.match(added.stdout, /Added HTTP MCP server e2b-mcp-gateway/)
  const listed = await sandbox.commands.run('claude mcp list', { timeoutMs: 60_000 })
  assert.match(listed.stdout, /e2b-mcp-gateway.*Connected/)
})

test('Claude inside the sandbox calls a tool of each server', async () => {
  const calls = [
    { tool: 'mcp__e2b-mcp-gateway__notion-API-post-search', input: { query: 'road' } },
    { tool: 'mcp__e2b-mcp-gateway__github-official-create_issue', input: { owner: 'cay', repo: 'claude', title: 'Roadmap' } },
  ]
  await sandbox.files.write('model.mjs', await readFile(new URL('model.mjs', import.meta.url), 'utf8'))
  const model = await sandbox.commands.run(`exec node model.mjs '${JSON.stringify(calls)}' 2>&1`, { background: true, stdin: true })
  const url = await until('the model', () => /http:\S+/.exec(model.stdout)?.[0])
  const envs = {
    ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'scripted', ENABLE_TOOL_SEARCH: 'false', DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
  const said = await sandbox.commands.run("claude -p 'go' --dangerously-skip-permissions </dev/null", { envs, timeoutMs: 300_000 })
  assert.match(said.stdout, /made 2 calls/)
  const results = await sandbox.commands.run(`curl -s ${url}/results`)
  const [found, made] = JSON.parse(results.stdout)
  assert.match(found.text, /Roadmap/)
  assert.match(made.text, /cay\/claude\/issues\/1/)
  await model.kill()
})

/** What root inside finds of credentials: in memory, environments and command lines of all processes, and in files. */
const SCAN = `
import os, sys
words = [half.encode() + b'start' for half in ('ntn_quick', 'ghp_quick')] + [b'planted_' + b'control']
found = set()
def look(where, data):
    found.update((where, word.decode()) for word in words if word in data)
def read(path):
    try:
        with open(path, 'rb') as file: return file.read()
    except OSError: return b''
for pid in filter(str.isdigit, os.listdir('/proc')):
    if int(pid) == os.getpid(): continue
    for name in ('cmdline', 'environ'): look('process', read('/proc/%s/%s' % (pid, name)))
    try:
        maps, memory = read('/proc/%s/maps' % pid).decode().splitlines(), open('/proc/%s/mem' % pid, 'rb', 0)
    except OSError: continue
    for line in maps:
        span, rights = line.split()[:2]
        begin, end = (int(part, 16) for part in span.split('-'))
        if 'r' in rights and end < 1 << 62:
            try:
                memory.seek(begin); look('memory', memory.read(end - begin))
            except (OSError, ValueError): pass
for top in ('/etc', '/home', '/root', '/run', '/tmp', '/var', '/opt', '/dev/shm'):
    for folder, _, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path): look('file', read(path))
print(sorted(found))
`

test('root inside finds no credential anywhere, but what was planted', async () => {
  await sandbox.files.write('/root/scan.py', SCAN, { user: 'root' })
  const scan = async () => (await sandbox.commands.run('python3 /root/scan.py', { user: 'root', timeoutMs: 120_000 })).stdout.trim()
  assert.equal(await scan(), '[]')
  const plant = `exec python3 -c "x = 'planted_'; y = x + 'control'; open('/tmp/planted', 'w').write(y); input()"`
  const planted = await sandbox.commands.run(plant, { background: true, user: 'root', stdin: true })
  await until('the planted file', async () => sandbox.files.exists('/tmp/planted'))
  assert.equal(await scan(), "[('file', 'planted_control'), ('memory', 'planted_control')]")
  await planted.kill()
  const log = await (await fetch(`${process.env.E2B_API_URL}/v2/sandboxes/${sandbox.sandboxId}/logs`, {
    headers: { 'X-API-KEY': process.env.E2B_API_KEY },
  })).text()
  assert.match(log, /mcp-gateway/)
  assert.doesNotMatch(log, /ntn_quickstart|ghp_quickstart/)
})

test('what servers need can be fetched in advance', async () => {
  await sandbox.commands.run('mcp-gateway pull notion', { user: 'root', timeoutMs: 300_000 })
  const wrong = await sandbox.commands.run('mcp-gateway pull notin 2>&1 || true', { user: 'root' })
  assert.match(wrong.stdout, /did you mean notion/)
})

test('other users inside see how servers are doing, and cannot replace the gateway', async () => {
  const status = JSON.parse((await sandbox.commands.run('mcp-gateway status', { user: 'user' })).stdout)
  assert.equal(status.servers.notion.state, 'ready')
  assert.ok(status.servers.notion.tools > 0)
  const taken = await sandbox.commands.run(`mcp-gateway --config '{}' --token mine --save-token=false 2>&1 || true`, { user: 'user' })
  assert.match(taken.stdout, /only who knows its token can change it/)
  const client = await connect(sandbox)
  assert.ok((await client.listTools()).tools.length > 0)
  await client.close()
})

test('root inside can replace the gateway', async () => {
  await sandbox.commands.run(`mcp-gateway --config '{"githubOfficial": {"githubPersonalAccessToken": "${GITHUB_TOKEN}"}}'`, {
    user: 'root', envs: { GATEWAY_ACCESS_TOKEN: 'another' },
  })
  const client = await connect(sandbox, { token: 'another' })
  assert.ok((await client.listTools()).tools.every((tool) => tool.name.startsWith('github-official-')))
  await client.close()
})

for (const template of ['base', 'code-interpreter-v1']) {
  test(`create('${template}', {mcp}) needs no template of its own, and begins without what cannot be started`, { skip: !atLeast(2, 9) }, async () => {
    const plain = await Sandbox.create(template, {
      mcp: { githubOfficial: { githubPersonalAccessToken: GITHUB_TOKEN }, amazonBedrockAgentcore: {} }, timeoutMs: 120_000,
    })
    const client = await connect(plain)
    const { tools } = await client.listTools()
    assert.ok(tools.some((tool) => tool.name === 'github-official-create_issue'))
    const status = JSON.parse((await plain.commands.run('mcp-gateway status')).stdout)
    assert.equal(status.servers.amazonBedrockAgentcore.state, 'failed')
    assert.match(status.servers.amazonBedrockAgentcore.reason, /image/)
    await client.close()
    await plain.kill()
  })
}

test('a missing option is told, and ends the sandbox', { skip: !atLeast(2, 9) }, async () => {
  await assert.rejects(create({ mcp: { githubOfficial: {} } }), /Failed to start MCP gateway|githubPersonalAccessToken/)
})
