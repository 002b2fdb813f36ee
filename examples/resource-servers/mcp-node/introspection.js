const { ISSUER, API_ID, API_SECRET } = process.env

/** The claims of an active token for this server, JWT or opaque; undefined for any other token. RFC 7662. */
export async function verify(token) {
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
