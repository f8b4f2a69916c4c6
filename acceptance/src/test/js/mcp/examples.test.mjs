// The sets of servers that E2B's published examples ask for, created and used as the examples do it. The catalog is Cay's
// own, without any word of an operator about a server.
//
// CAY_WAYS is an object: by the key of each server, the way in which it starts here, or an empty text where it cannot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sandbox, atLeast, e2b, until } from '../client.mjs'
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
// Without an image, Stripe's server is a package that calls the vendor as soon as it starts: tests call nobody outside.
const offline = (mcp) => (Object.keys(mcp).includes('stripe') && !WAYS.stripe ? { allowInternetAccess: false } : {})
const PREFIXES = { githubOfficial: 'github-official' }

const health = async (sandbox) => {
  const headers = { Authorization: `Bearer ${await tokenOf(sandbox)}` }
  return (await (await fetch(urlOf(sandbox).replace(/\/mcp$/, '/health'), { headers })).json()).servers
}

for (const [name, mcp] of Object.entries(EXAMPLES)) {
  test(`${name}: all that can start do, and the others say what they lack`, async () => {
    const began = Date.now()
    const sandbox = await create({ mcp, timeoutMs: 900_000, ...offline(mcp) })
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
          assert.match(JSON.stringify(settled[key]), /image .*mirrorsOnly/)
          assert.notEqual(settled[key].reason, '')
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

test('many sandboxes with the same image at once each have their own server', { skip: !WAYS.sonarqube }, async () => {
  const tokens = Array.from({ length: 6 }, (_, n) => `token_of_${n}`)
  const sandboxes = await Promise.all(
    tokens.map((token) => create({ mcp: { sonarqube: { ...EXAMPLES.SonarQube.sonarqube, token } }, timeoutMs: 600_000 })),
  )
  try {
    await Promise.all(sandboxes.map(async (sandbox, n) => {
      const client = await connect(sandbox)
      for (let call = 0; call < 20; call++) {
        const said = textOf(await client.callTool({ name: 'sonarqube-tell', arguments: {} }))
        assert.deepEqual(said.match(/token_of_\d/g), [tokens[n]])
      }
      await client.close()
    }))
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
  }
})

for (const [from, make] of [
  ['base', (template) => template.fromTemplate('base').runCmd('echo mine > /tmp/own')],
  ['mcp-gateway, with its server fetched', (template) => template.fromTemplate('mcp-gateway').addMcpServer('sonarqube')],
]) {
  test(`a template of one's own from ${from}`, { skip: !WAYS.sonarqube || !atLeast(2, 9) }, async () => {
    const name = `own-${from.split(',')[0]}`
    await e2b.Template.build(make(e2b.Template()), name)
    const sandbox = await Sandbox.create(name, { mcp: EXAMPLES.SonarQube, timeoutMs: 600_000 })
    try {
      const client = await connect(sandbox)
      assert.match(textOf(await client.callTool({ name: 'sonarqube-tell', arguments: {} })), /SONARQUBE_TOKEN=sonar_token/)
      await client.close()
    } finally {
      await sandbox.kill()
    }
  })
}
