// Answers HTTP requests with what they said, on port 8080: for tests of clients, proxies and networks.
// Paths and answers are those that servers called "httpbin" have; values of headers and of the query are lists.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

const PORT = 8080
const MOST_BODY = 16 * 1024 * 1024
const MOST_BYTES = 1024 * 1024
const MOST_SECONDS = 10

const METHODS = { '/get': 'GET', '/post': 'POST', '/put': 'PUT', '/patch': 'PATCH', '/delete': 'DELETE' }

/** Lists by key, keys in the order in which they came. */
function grouped(pairs) {
  const lists = {}
  for (const [key, value] of pairs) (lists[key] ??= []).push(value)
  return lists
}

/** `x-request-id` as `X-Request-Id`. */
const capitalized = (name) => name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())

function headersOf(request) {
  const pairs = []
  for (let i = 0; i < request.rawHeaders.length; i += 2) pairs.push([capitalized(request.rawHeaders[i]), request.rawHeaders[i + 1]])
  return grouped(pairs)
}

const originOf = (request) => request.headers['x-forwarded-for'] ?? request.socket.remoteAddress ?? ''

async function bodyOf(request) {
  const parts = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > MOST_BODY) throw Object.assign(new Error(`a body may have at most ${MOST_BODY} bytes`), { status: 413 })
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function jsonOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function echo(request, url) {
  const data = await bodyOf(request)
  const isForm = (request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')
  return {
    args: grouped(url.searchParams),
    headers: headersOf(request),
    method: request.method,
    origin: originOf(request),
    url: url.toString(),
    data: isForm ? '' : data,
    files: {},
    form: isForm ? grouped(new URLSearchParams(data)) : {},
    json: jsonOf(data),
  }
}

function send(response, status, body, headers = {}) {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body, null, 2) + '\n'
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Access-Control-Allow-Origin': '*', ...headers })
  response.end(text)
}

/** The number at the end of a path. */
function numberIn(path, most) {
  const number = Number(path.split('/')[2])
  if (!Number.isFinite(number) || number < 0) throw Object.assign(new Error(`${path} needs a number`), { status: 400 })
  return Math.min(number, most)
}

async function answer(request, response) {
  const url = new URL(request.url, `http://${request.headers.host ?? 'localhost'}`)
  const path = url.pathname
  const method = METHODS[path]
  if (method && method !== request.method && request.method !== 'HEAD') {
    return send(response, 405, { error: `${path} is for ${method}` }, { Allow: method })
  }
  if (method || path === '/anything' || path.startsWith('/anything/')) return send(response, 200, await echo(request, url))
  if (path === '/headers') return send(response, 200, { headers: headersOf(request) })
  if (path === '/ip') return send(response, 200, { origin: originOf(request) })
  if (path === '/user-agent') return send(response, 200, { 'user-agent': request.headers['user-agent'] ?? '' })
  if (path.startsWith('/status/')) {
    const status = Math.trunc(numberIn(path, 599))
    return status < 200 ? send(response, 400, { error: 'a status is from 200 to 599' }) : send(response, status, '')
  }
  if (path.startsWith('/delay/')) {
    await new Promise((resolve) => setTimeout(resolve, numberIn(path, MOST_SECONDS) * 1000))
    return send(response, 200, await echo(request, url))
  }
  if (path.startsWith('/bytes/')) {
    return send(response, 200, randomBytes(Math.trunc(numberIn(path, MOST_BYTES))), { 'Content-Type': 'application/octet-stream' })
  }
  if (path.startsWith('/redirect/')) {
    const left = Math.trunc(numberIn(path, 20)) - 1
    return send(response, 302, '', { Location: left > 0 ? `/redirect/${left}` : '/get' })
  }
  const paths = [...Object.keys(METHODS), '/anything', '/headers', '/ip', '/user-agent', '/status/CODE', '/delay/SECONDS', '/bytes/N', '/redirect/N']
  return send(response, path === '/' ? 200 : 404, { paths })
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (response.headersSent) response.destroy()
    else send(response, error.status ?? 400, { error: error.message })
  })
}).listen(PORT, '0.0.0.0')
