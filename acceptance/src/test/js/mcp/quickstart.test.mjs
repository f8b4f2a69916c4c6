// The quickstart of E2B's documentation: Notion and GitHub behind one address, used from outside and by Claude inside.
//
// The platform starts both servers for keys `notion` and `githubOfficial` as its configuration says: the real Notion server
// against notion-api.mjs, and github-standin.mjs. CAY_NOTION_API is where the former can be asked what it heard.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Sandbox, atLeast } from '../client.mjs'
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
    timeoutMs: 300_000,
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
  const { tools } = await client.listTools()
  const names = tools.map((tool) => tool.name)
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

test('no credential can be seen in the sandbox', async () => {
  const look = 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /var/log/mcp-gateway/* 2>/dev/null | tr "\\0" "\\n" | grep -c -E "$PATTERN" || true'
  // Not the pattern itself, which stands in the environment of the one that looks.
  const seen = await sandbox.commands.run(look, { user: 'root', envs: { PATTERN: 'ntn_quick[s]tart|ghp_quick[s]tart' } })
  assert.equal(seen.stdout.trim(), '0')
})

test('a server that cannot be started is told, and ends the sandbox', { skip: !atLeast(2, 9) }, async () => {
  await assert.rejects(create({ mcp: { githubOfficial: {} } }), /Failed to start MCP gateway|githubPersonalAccessToken/)
})
