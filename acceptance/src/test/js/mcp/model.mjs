// A model that makes the tool calls it is told to, for programs that speak the Messages API. One call per turn, then it
// says how many there were.
//
//   const model = await startModel([{ tool: 'mcp__cay__run_code', input: { code: '1' } }, ...])
//   ... run the program with ANTHROPIC_BASE_URL=model.url ...
//   model.requests   the bodies of its requests to /v1/messages
//   model.results    of the calls so far, in their order: { text, isError }
//   await model.close()
//
// GET /results answers with the results too. An `input` may be a function of the results so far. As a program, `node model.mjs '[...]'` prints its URL, serves until
// its standard input is closed, and prints the results as one line of JSON then.
import http from 'node:http'
import { pathToFileURL } from 'node:url'

export async function startModel(calls) {
  const requests = []
  const state = { results: [] }
  const server = http.createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url === '/results') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(state.results))
      return
    }
    if (request.method !== 'POST' || !request.url.startsWith('/v1/messages')) {
      response.writeHead(request.method === 'HEAD' ? 200 : 404).end()
      return
    }
    const body = JSON.parse(Buffer.concat(chunks).toString())
    if (request.url.startsWith('/v1/messages/count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1}')
      return
    }
    requests.push(body)
    const results = toolResults(body)
    if (results.length > state.results.length) state.results = results
    answer(response, body, turn(body, results))
  })

  function turn(body, results) {
    const next = calls[results.length]
    // Side requests, as for a title, have no tools.
    if (!next || !body.tools?.length) return [{ type: 'text', text: `made ${results.length} calls` }]
    const input = typeof next.input === 'function' ? next.input(results) : (next.input ?? {})
    return [{ type: 'tool_use', id: `toolu_${results.length}`, name: next.tool, input }]
  }

  await new Promise((resume) => server.listen(0, '127.0.0.1', resume))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    get results() {
      return state.results
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resume) => server.close(resume))
    },
  }
}

function toolResults(body) {
  const parts = body.messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []))
  return parts
    .filter((part) => part.type === 'tool_result')
    .map((part) => ({
      text: typeof part.content === 'string' ? part.content : (part.content ?? []).map((one) => one.text ?? '').join(''),
      isError: part.is_error === true,
    }))
}

function answer(response, body, content) {
  const reason = content[0].type === 'tool_use' ? 'tool_use' : 'end_turn'
  const message = {
    id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content, stop_reason: reason, stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  if (!body.stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  send('message_start', { message: { ...message, content: [], stop_reason: null } })
  content.forEach((part, index) => {
    const empty = part.type === 'text' ? { type: 'text', text: '' } : { ...part, input: {} }
    const delta = part.type === 'text'
      ? { type: 'text_delta', text: part.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(part.input) }
    send('content_block_start', { index, content_block: empty })
    send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  })
  send('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } })
  send('message_stop', {})
  response.end()
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const model = await startModel(JSON.parse(process.argv[2] ?? '[]'))
  console.log(model.url)
  process.stdin.resume()
  process.stdin.on('end', () => {
    console.log(JSON.stringify(model.results))
    process.exit(0)
  })
}
