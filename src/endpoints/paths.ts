/** The paths of all endpoints, relative to the issuer. The specification's two operations determine the prefix. */
export const PATHS = {
  register: '/v2/oauth/register',
  registeredSecret: '/v2/oauth/register/secret',
  token: '/v2/oauth/token',
  authorize: '/v2/oauth/authorize',
  signIn: '/v2/oauth/sign-in',
  consent: '/v2/oauth/consent',
  signOut: '/v2/oauth/sign-out',
  revoke: '/v2/oauth/revoke',
  introspect: '/v2/oauth/introspect',
  jwks: '/v2/oauth/jwks',
  protectedResource: '/v2/oauth/protected-resource',
  oauthMetadata: '/.well-known/oauth-authorization-server',
  openidMetadata: '/.well-known/openid-configuration',
  alive: '/health/alive',
  ready: '/health/ready',
  version: '/version',
} as const

/** Returns the address of a page of this server, with the authorization and the client's preferred languages in the query. */
export function pageAddress(
  issuer: string,
  path: string,
  page: { readonly authorization: string | undefined; readonly uiLocales: string | undefined },
): string {
  const query = new URLSearchParams()
  if (page.authorization !== undefined) query.set('authorization', page.authorization)
  if (page.uiLocales !== undefined) query.set('ui_locales', page.uiLocales)
  return query.size === 0 ? addressOf(issuer, path) : `${addressOf(issuer, path)}?${query.toString()}`
}

/** Returns the full address of a path. It never depends on the request's Host header (threats.md UI-12). */
export function addressOf(issuer: string, path: string): string {
  return (issuer.endsWith('/') ? issuer.slice(0, -1) : issuer) + path
}
