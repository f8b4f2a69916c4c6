// An issuer of OpenID Connect that signs in everybody at once, as one person.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import http from 'node:http'

export function startIssuer(port, clientId, email) {
  const issuer = `http://127.0.0.1:${port}`
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map()
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

  function idToken(nonce) {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, aud: clientId, sub: 'account-1', nonce, iat: now, exp: now + 300, email, email_verified: true }
    const content = `${part({ alg: 'RS256', kid: 'k1' })}.${part(claims)}`
    return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`
  }

  const answers = {
    '/.well-known/openid-configuration': () => ({
      issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/keys': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }] }),
    '/token': (form) => {
      const asked = codes.get(form.get('code'))
      codes.delete(form.get('code'))
      const proof = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url')
      if (asked?.get('code_challenge') !== proof || form.get('client_id') !== clientId) return undefined
      return { access_token: 'x', token_type: 'Bearer', id_token: idToken(asked.get('nonce')) }
    },
  }
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, issuer)
    if (url.pathname === '/authorize') {
      const code = randomUUID()
      codes.set(code, url.searchParams)
      const back = new URL(url.searchParams.get('redirect_uri'))
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state'))
      response.writeHead(302, { Location: back.href }).end()
      return
    }
    let body = ''
    for await (const part of request) body += part
    const answer = answers[url.pathname]?.(new URLSearchParams(body))
    response.writeHead(answer ? 200 : 400, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: 'invalid_grant' }))
  })
  return new Promise((resolve) => server.unref().listen(port, '127.0.0.1', resolve))
}
