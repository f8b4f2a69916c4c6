// The sets of servers that E2B's published examples ask for, created and used as the examples do it. The catalog is Cay's
// own, without any word of an operator about a server.
//
// CAY_WAYS is an object: by the key of each server, the way in which it starts here, or null where it cannot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../client.mjs'
import { connect, create, textOf, tokenOf, urlOf } from './gateway.mjs'

const WAYS = JSON.parse(process.env.CAY_WAYS)
const EXAMPLES = {
  'Browserbase, Exa and Notion': {
    browserbase: { apiKey: 'bb_key', geminiApiKey: 'gemini_key', projectId: 'bb_project' },
    exa: { apiKey: 'exa_key' },
    notion: { internalIntegrationToken: 'ntn_token' },
  },
  'Notion and GitHub': {
    notion: { internalIntegrationToken: 'ntn_token' },
    githubOfficial: { githubPersonalAccessToken: 'ghp_token' },
  },
  Stripe: { stripe: { secretKey: 'sk_test_key' } },
  'the archived GitHub and Slack': {
    github: { personalAccessToken: 'ghp_token' },
    slack: { botToken: 'xoxb-token', teamId: 'T1', channelIds: 'C1' },
  },
  SonarQube: { sonarqube: { org: 'org', token: 'sonar_token', url: 'https://sonar.example.org' } },
}
const PREFIXES = { githubOfficial: 'github-official' }

const health = async (sandbox) => {
  const headers = { Authorization: `Bearer ${await tokenOf(sandbox)}` }
  return (await (await fetch(urlOf(sandbox).replace(/\/mcp$/, '/health'), { headers })).json()).servers
}

for (const [name, mcp] of Object.entries(EXAMPLES)) {
  test(`${name}: all that can start do, and the others say what they lack`, async () => {
    const began = Date.now()
    const sandbox = await create({ mcp, timeoutMs: 900_000 })
    try {
      console.log(`# ${name}: created after ${Date.now() - began} ms`)
      const client = await connect(sandbox)
      const keys = Object.keys(mcp)
      // What has to be fetched first comes later than the rest.
      const settled = await until('all servers', async () => {
        const now = await health(sandbox)
        return keys.every((key) => now[key].state === (WAYS[key] ? 'ready' : 'failed')) && now
      }, 600_000)
      const tools = (await client.listTools()).tools.map((tool) => tool.name)
      for (const key of keys) {
        const offered = tools.filter((tool) => tool.startsWith(`${PREFIXES[key] ?? key}-`))
        if (WAYS[key]) {
          assert.equal(settled[key].way.split(' ')[0], WAYS[key], JSON.stringify(settled[key]))
          assert.notEqual(offered.length, 0, `${key}: ${tools}`)
        } else {
          assert.equal(offered.length, 0)
          assert.match(settled[key].reason, /image/)
        }
      }
      await client.close()
    } finally {
      await sandbox.kill()
    }
  })
}

test('a server from an image has its credential, and no other sandbox has', { skip: !WAYS.sonarqube }, async () => {
  const sandbox = await create({ mcp: EXAMPLES.SonarQube, timeoutMs: 600_000 })
  try {
    const client = await connect(sandbox)
    const said = textOf(await client.callTool({ name: 'sonarqube-tell', arguments: {} }))
    assert.match(said, /^user 1000:/)
    assert.match(said, /^variable SONARQUBE_TOKEN=sonar_token$/m)
    assert.match(said, /^variable SONARQUBE_ORG=org$/m)
    const inside = await sandbox.commands.run(
      "sudo grep -rlaF --exclude-dir=proc --exclude-dir=sys sonar_token / 2>/dev/null; sudo sh -c 'cat /proc/*/environ' | grep -caF sonar_token",
    ).catch((failed) => failed)
    assert.equal(inside.stdout.trim(), '0')
    await client.close()
  } finally {
    await sandbox.kill()
  }
})
