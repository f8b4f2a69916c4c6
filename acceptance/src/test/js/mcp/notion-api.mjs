// As much of Notion's API as its MCP server needs to look alive.
//
//   node notion-api.mjs [PORT]   prints its URL; port 0 or none takes any
//
// GET /requests tells what was asked, with the tokens. Requests without a token are refused as Notion does.
import { createServer } from 'node:http'

const at = '2026-01-01T00:00:00.000Z'
const words = (content) => [{ type: 'text', text: { content }, plain_text: content }]
const someone = { object: 'user', id: '00000000-0000-4000-8000-0000000000aa', type: 'bot', name: 'Tester', bot: {} }
const page = (n, title) => ({
  object: 'page',
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  created_time: at, last_edited_time: at, archived: false, in_trash: false,
  parent: { type: 'workspace', workspace: true },
  properties: { title: { id: 'title', type: 'title', title: words(title) } },
  url: `https://www.notion.so/${n}`,
})
const pages = [page(1, 'Meeting notes'), page(2, 'Roadmap'), page(3, 'Bugs to file')]
const block = (n, text) => ({
  object: 'block', id: `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`, type: 'paragraph',
  has_children: false, paragraph: { rich_text: words(text) },
})
const list = (type, results) => ({ object: 'list', results, next_cursor: null, has_more: false, type, [type]: {} })
const missing = { object: 'error', status: 404, code: 'object_not_found', message: 'Could not find that.' }

const ROUTES = [
  ['POST', /^\/v1\/search$/, (_, { query = '' }) => {
    const found = pages.filter((one) => JSON.stringify(one.properties).toLowerCase().includes(query.toLowerCase()))
    return list('page_or_database', found)
  }],
  ['GET', /^\/v1\/pages\/([^/]+)$/, ([id]) => pages.find((one) => one.id === id)],
  ['POST', /^\/v1\/pages$/, (_, { properties }) => {
    const made = { ...page(pages.length + 1, ''), ...(properties && { properties }) }
    pages.push(made)
    return made
  }],
  ['GET', /^\/v1\/blocks\/[^/]+\/children$/, () => list('block', [block(1, 'First'), block(2, 'Second')])],
  ['PATCH', /^\/v1\/blocks\/[^/]+\/children$/, (_, { children = [] }) => list('block', children)],
  ['GET', /^\/v1\/users$/, () => list('user', [someone])],
  ['GET', /^\/v1\/users\/[^/]+$/, () => someone],
  ['GET', /^\/v1\/comments$/, () => list('comment', [])],
]

const requests = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  const answer = (status, value) => response
    .writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  const { pathname } = new URL(request.url, 'http://localhost')
  if (pathname === '/requests') return answer(200, requests)
  const { authorization = '', 'notion-version': version } = request.headers
  requests.push({ method: request.method, path: pathname, authorization, version, body })
  if (!/^Bearer \S+$/.test(authorization)) {
    return answer(401, { object: 'error', status: 401, code: 'unauthorized', message: 'API token is invalid.' })
  }
  for (const [method, path, reply] of ROUTES) {
    const match = method === request.method && path.exec(pathname)
    if (!match) continue
    let given
    try {
      given = body ? JSON.parse(body) : {}
    } catch {
      return answer(400, { object: 'error', status: 400, code: 'invalid_json', message: 'Error parsing JSON body.' })
    }
    const value = reply(match.slice(1), given)
    return value ? answer(200, value) : answer(404, missing)
  }
  return answer(404, missing)
}).listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
