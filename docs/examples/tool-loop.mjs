// A model that may run Python: it asks for code to be run, gets the outcome, and goes on until it has an answer. Any
// endpoint that speaks the Messages API will do.
//
//   npm install @e2b/code-interpreter
//   eval "$(./cay env)"                  # in the directory of Cay
//   MODEL_URL=http://127.0.0.1:9000/v1/messages MODEL_KEY=… node tool-loop.mjs "What is the 20th prime number?"
import { Sandbox } from '@e2b/code-interpreter'

if (!process.env.MODEL_URL) {
  console.error('MODEL_URL is not set: it names the model, for instance http://127.0.0.1:9000/v1/messages')
  process.exit(2)
}

const { E2B_API_URL, E2B_DOMAIN } = process.env
if (!E2B_API_URL && !E2B_DOMAIN) {
  console.error('E2B_API_URL and E2B_DOMAIN are not set, so this looks for E2B\'s cloud. For Cay: eval "$(./cay env)"')
}

const tools = [
  {
    name: 'run_python',
    description: 'Runs Python in a notebook. Variables stay for the next call.',
    input_schema: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
  },
]

async function ask(messages) {
  const answer = await fetch(process.env.MODEL_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': process.env.MODEL_KEY ?? '' },
    body: JSON.stringify({ model: process.env.MODEL ?? 'default', max_tokens: 1024, tools, messages }),
  })
  if (!answer.ok) throw new Error(`the model answers ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

async function runTool(sandbox, { id, input }) {
  const done = await sandbox.runCode(input.code)
  const output = [done.logs.stdout.join(''), done.text, done.error?.traceback].filter(Boolean).join('\n')
  return { type: 'tool_result', tool_use_id: id, content: output || '(no output)', is_error: Boolean(done.error) }
}

const messages = [{ role: 'user', content: process.argv[2] ?? 'What is the 20th prime number?' }]
const sandbox = await Sandbox.create()
try {
  for (let round = 0; round < 10; round++) {
    const { content, stop_reason: reason } = await ask(messages)
    messages.push({ role: 'assistant', content })
    if (reason !== 'tool_use') {
      console.log(content.map((part) => part.text ?? '').join(''))
      break
    }
    const wanted = content.filter((part) => part.type === 'tool_use')
    messages.push({ role: 'user', content: await Promise.all(wanted.map((one) => runTool(sandbox, one))) })
  }
} finally {
  await sandbox.kill()
}
