import { createServer } from 'node:http'
import * as oauth from 'oauth4webapi'

const { ISSUER, RESOURCE, MCP_PORT } = process.env
const issuer = { issuer: ISSUER, jwks_uri: `${ISSUER}/v2/oauth/jwks` }
// Of the token and of the proof.
const signingAlgorithms = ['ES256', 'EdDSA', 'Ed25519', 'PS256']
const checks = { signingAlgorithms, [oauth.allowInsecureRequests]: ISSUER.startsWith('http:') }
const CHALLENGE = 'Bearer error="invalid_token", DPoP error="invalid_token", algs="ES256 EdDSA Ed25519 PS256"'

/** The claims of a token that passes all checks, with its proof if it is bound; undefined for any other token. */
async function verify({ method, headers, url }) {
  const { authorization = '', dpop } = headers
  const sent = new Headers({ authorization, ...(dpop === undefined ? {} : { dpop }) })
  // The address as clients know it, which the proof names, and not the Host header.
  const request = new Request(new URL(url, RESOURCE), { method, headers: sent })
  try {
    return await oauth.validateJwtAccessToken(issuer, request, RESOURCE, checks)
  } catch (error) {
    if (error instanceof oauth.OperationProcessingError && error.code !== oauth.RESPONSE_IS_NOT_CONFORM)
      return undefined
    if (error instanceof oauth.UnsupportedOperationError) return undefined
    throw error
  }
}

async function answer(request, response) {
  const hasToken = request.headers.authorization !== undefined
  const claims = hasToken ? await verify(request) : undefined
  if (claims === undefined)
    return response.writeHead(401, { 'www-authenticate': hasToken ? CHALLENGE : 'Bearer, DPoP' }).end()
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
