import type { ApiDocument } from '../../../admin/api/document.ts'
import { forShell } from '../../../base/shell.ts'
import { addressOf, AUTHORIZE_PATH, TOKEN_PATH } from '../../../protocol/uri/server-address.ts'

/** How an API verifies its tokens: parts of the programs of docs/resource-servers.md, which `npm run prove resource-servers` runs. */

/** What the programs need of an API, as lines of a shell. */
export function environmentOf({ resource, introspection_id: id }: ApiDocument, issuer: string): string {
  const known = { ISSUER: issuer.replace(/\/$/, ''), RESOURCE: resource, ...(id === null ? {} : { API_ID: id }) }
  return Object.entries(known)
    .map(([name, value]) => `export ${name}=${forShell(value)}`)
    .join('\n')
}

/** With its quotes: only the program imports it. */
const LIBRARY = "'jose'"

/** Verifies a JWT with the keys of the server. */
export function verifyRecipe({ jwt_type: type }: Pick<ApiDocument['tokens'], 'jwt_type'>, algorithm: string): string {
  return `import { createRemoteJWKSet, errors, jwtVerify } from ${LIBRARY}

const { ISSUER, RESOURCE } = process.env

const keys = createRemoteJWKSet(new URL(\`\${ISSUER}/v2/oauth/jwks\`))
const checks = { issuer: ISSUER, audience: RESOURCE, typ: '${type}', algorithms: ['${algorithm}'], requiredClaims: ['exp'] }

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
}`
}

/** Asks the server about a token. */
export const INTROSPECT_RECIPE = `const { ISSUER, API_ID, API_SECRET } = process.env

/** The claims of an active token for this API; undefined for any other token. RFC 7662. */
async function introspect(token) {
  const answer = await fetch(\`\${ISSUER}/v2/oauth/introspect\`, {
    method: 'POST',
    headers: { authorization: \`Basic \${btoa(\`\${API_ID}:\${API_SECRET}\`)}\` },
    body: new URLSearchParams({ token }),
    signal: AbortSignal.timeout(5000),
  })
  if (!answer.ok) throw new Error(\`Introspection answered \${answer.status}\`)
  const claims = await answer.json()
  // A bound token needs a proof.
  return claims.active && claims.cnf === undefined ? claims : undefined
}`

/** The same at a terminal, to look at one token. */
export const INTROSPECT_COMMAND = 'curl "$ISSUER/v2/oauth/introspect" -u "$API_ID:$API_SECRET" -d token=…'

/** A whole token request of a client without a user. Without scope and resource, the audience of the token is the server. */
export function requestCommand(
  issuer: string,
  client: string,
  members: Readonly<Record<string, string>>,
  method = 'client_secret_basic',
): string {
  const data = Object.entries(members).map(([name, value]) => ` --data-urlencode ${name}=${forShell(value)}`)
  const authenticated = AUTHENTICATED[method]?.(client) ?? ` -u ${forShell(client.replaceAll(':', '%3A'))}:…`
  return `curl ${forShell(addressOf(issuer, TOKEN_PATH))}${authenticated} -d grant_type=client_credentials${data.join('')}`
}

/** Where a client sends the browser of a user. RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2. What differs for each client is left out. */
export function authorizationAddress(issuer: string, members: Readonly<Record<string, string>>): string {
  const named = Object.entries(members).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
  const own = 'client_id=…&redirect_uri=…&state=…&code_challenge=…&code_challenge_method=S256'
  return `${addressOf(issuer, AUTHORIZE_PATH)}?response_type=code&${own}${named.join('')}`
}

/** How a client authenticates that does not by HTTP Basic, in which a colon ends the id (RFC 6749 §2.3.1). */
const AUTHENTICATED: Readonly<Record<string, (client: string) => string>> = {
  client_secret_post: (client) => ` --data-urlencode client_id=${forShell(client)} -d client_secret=…`,
  private_key_jwt: (client) =>
    ` --data-urlencode client_id=${forShell(client)} -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer -d client_assertion=…`,
}
