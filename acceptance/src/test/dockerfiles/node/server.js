const http = require('http')
const isNumber = require('is-number')

const started = Date.now()
http
  .createServer((request, response) => {
    if (request.url === '/health') response.statusCode = Date.now() - started < 1000 ? 503 : 200
    response.end(`${request.url.slice(1)} is ${isNumber(request.url.slice(1)) ? 'a' : 'no'} number, says ${process.env.NODE_ENV} as ${process.getuid()}`)
  })
  .listen(3000)
