import { createServer } from 'node:http'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

const { ISSUER, RESOURCE, MCP_PORT } = process.env
const keys = createRemoteJWKSet(new URL(`${ISSUER}/v2/oauth/jwks`))
const checks = { issuer: ISSUER, audience: RESOURCE, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['exp'] }

/** The claims of a token that passes all checks; undefined for any other token. @throws Error when the keys cannot be fetched */
async function verify(token) {
  try {
    const { payload } = await jwtVerify(token, keys, checks)
    // A bound token needs a proof.
    return payload.cnf === undefined ? payload : undefined
  } catch (error) {
    const isOfKeys = ['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT'].includes(error.code)
    if (isOfKeys || !(error instanceof errors.JOSEError)) throw error
    return undefined
  }
}

async function answer(request, response) {
  const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const claims = token === undefined ? undefined : await verify(token)
  if (claims === undefined) {
    return response.writeHead(401, { 'www-authenticate': token ? 'Bearer error="invalid_token"' : 'Bearer' }).end()
  }
  if (!(claims.scope ?? '').split(' ').includes('orders:read')) {
    return response
      .writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="orders:read"' })
      .end()
  }
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ for: claims.sub, orders: 7 }))
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(503, { 'retry-after': '5' }).end()
  })
}).listen(MCP_PORT)
