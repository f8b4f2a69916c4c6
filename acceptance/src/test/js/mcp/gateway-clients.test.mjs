// What a client of the second generation does through a gateway, in both eras of the protocol: `fixtures` runs
// fixtures-server.mjs, without a prefix.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, suite, test } from 'node:test'
import { create, textOf, tokenOf, urlOf } from './gateway.mjs'

const require = createRequire(process.env.CAY_NEW_CLIENT + '/')
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client')

let sandbox
before(async () => {
  sandbox = await create({ mcp: { fixtures: {} }, timeoutMs: 300_000 })
})
after(async () => sandbox?.kill())

async function connect(mode) {
  const client = new Client({ name: 'test', version: '2' }, {
    versionNegotiation: { mode },
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
  })
  client.setRequestHandler('elicitation/create', ({ params }) => ({ action: 'accept', content: { name: params.message } }))
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant', model: 'none', content: { type: 'text', text: 'Paris' },
  }))
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work', name: 'work' }] }))
  const headers = { Authorization: `Bearer ${await tokenOf(sandbox)}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(urlOf(sandbox)), { requestInit: { headers } }))
  return client
}

for (const [mode, revision] of [['legacy', '2025-11-25'], ['auto', '2026-07-28']]) {
  suite(`in ${revision}`, () => {
    let client
    before(async () => {
      client = await connect(mode)
    })
    after(async () => client?.close())
    const called = async (name, given = {}, options = {}) => {
      const result = await client.callTool({ name, arguments: given }, { timeout: 60_000, ...options })
      assert.ok(!result.isError, JSON.stringify(result.content))
      return textOf(result)
    }

    test('both sides agree on the revision', () => assert.equal(client.getNegotiatedProtocolVersion(), revision))

    test('tools, their progress and their errors', async () => {
      const { tools } = await client.listTools()
      assert.ok(tools.some(({ name }) => name === 'test_simple_text'))
      const heard = []
      await called('test_tool_with_progress', {}, { onprogress: ({ progress }) => heard.push(progress) })
      assert.deepEqual(heard, [0, 50, 100])
      assert.ok((await client.callTool({ name: 'test_error_handling', arguments: {} })).isError)
      await assert.rejects(client.callTool({ name: 'no-such-tool', arguments: {} }), /unknown tool/)
    })

    test('prompts and resources', async () => {
      const { prompts } = await client.listPrompts()
      assert.ok(prompts.some(({ name }) => name === 'test_simple_prompt'))
      const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } })
      assert.match(prompt.messages[0].content.text, /arg1='a', arg2='b'/)
      const { contents } = await client.readResource({ uri: 'test://static-text' })
      assert.match(contents[0].text, /static text resource/)
      assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0)
      await assert.rejects(client.readResource({ uri: 'test://nowhere' }))
    })

    test('what servers ask for is asked of the client', async () => {
      assert.equal(await called('test_input_required_result_elicitation'), 'Hello, What is your name?!')
      assert.equal(await called('test_input_required_result_sampling'), 'Paris')
      assert.equal(await called('test_input_required_result_list_roots'), 'Roots: file:///work')
      assert.equal(await called('test_input_required_result_multiple_inputs'), 'Paris What is your name?, 1 roots')
    })

    test('twenty calls at once get their own answers', async () => {
      await Promise.all(Array.from({ length: 20 }, async (_, n) => {
        const mine = { name: `call ${n}`, contactMethod: 'phone', phone: `${n}` }
        assert.deepEqual(JSON.parse(await called('json_schema_2020_12_tool', mine)), mine)
      }))
    })
  })
}
