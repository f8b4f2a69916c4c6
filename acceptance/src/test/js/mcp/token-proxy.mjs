// Adds a token to every request, for clients that cannot send one.
//
//   TOKEN=... node token-proxy.mjs http://host:port/mcp [PORT]   prints its own URL; port 0 or none takes any
import http from 'node:http'
import https from 'node:https'

const target = new URL(process.argv[2])
const { request: ask } = target.protocol === 'https:' ? https : http

const server = http.createServer((request, response) => {
  // The Host is the client's own: whether the server looks at it is part of what is measured.
  const local = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')
  const headers = { ...request.headers, authorization: `Bearer ${process.env.TOKEN}` }
  if (local) headers.host = target.host
  const there = { hostname: target.hostname.replace(/^\[|\]$/g, ''), port: target.port }
  const forward = ask({ ...there, method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders)
    response.flushHeaders()
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  })
  forward.on('error', (e) => (response.headersSent ? response.destroy() : response.writeHead(502).end(e.message)))
  request.pipe(forward)
  response.on('close', () => forward.destroy())
})
server.listen(Number(process.argv[3] ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}${target.pathname}`)
})
