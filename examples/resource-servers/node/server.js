import { createServer } from 'node:http'

const { ISSUER, RESOURCE, MCP_PORT, API_ID, API_SECRET } = process.env

/** The claims of an active token for this API; undefined for any other token. RFC 7662. */
async function introspect(token) {
  const answer = await fetch(`${ISSUER}/v2/oauth/introspect`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${API_ID}:${API_SECRET}`)}` },
    body: new URLSearchParams({ token }),
    signal: AbortSignal.timeout(5000),
  })
  if (!answer.ok) throw new Error(`Introspection answered ${answer.status}`)
  const claims = await answer.json()
  // A bound token needs a proof.
  return claims.active && claims.cnf === undefined ? claims : undefined
}

async function answer(request, response) {
  const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const claims = token === undefined ? undefined : await introspect(token)
  if (claims === undefined) {
    return response.writeHead(401, { 'www-authenticate': token ? 'Bearer error="invalid_token"' : 'Bearer' }).end()
  }
  if (!(claims.scope ?? '').split(' ').includes('orders:read')) {
    return response
      .writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="orders:read"' })
      .end()
  }
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ for: claims.sub, at: RESOURCE, orders: 7 }))
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(503, { 'retry-after': '5' }).end()
  })
}).listen(MCP_PORT)
