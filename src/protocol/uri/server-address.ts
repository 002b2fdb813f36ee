/** Where APIs find what they verify tokens with, and ask about them. */
export const [JWKS_PATH, INTROSPECT_PATH] = ['/v2/oauth/jwks', '/v2/oauth/introspect'] as const
/** Where a client sends the browser of a user. */
export const AUTHORIZE_PATH = '/v2/oauth/authorize'
/** Where clients get tokens, and register. */
export const [TOKEN_PATH, REGISTER_PATH] = ['/v2/oauth/token', '/v2/oauth/register'] as const

/** Returns the full address of a path of this server. It never depends on the request's Host header (threats.md UI-12). */
export function addressOf(issuer: string, path: string): string {
  return (issuer.endsWith('/') ? issuer.slice(0, -1) : issuer) + path
}
