import type { Configuration, ServerMetadata } from 'openid-client'
import { isObject } from '../base/json.ts'
import type { PersonClaims, ProviderClaims } from '../protocol/sign-in/provider-identity.ts'
import type { Library } from './provider-fetch.ts'

/** GitHub publishes no metadata. GitHub Enterprise Server has the same paths on its own host. */
export function githubMetadata(issuer: string): ServerMetadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}/login/oauth/authorize`,
    token_endpoint: `${issuer}/login/oauth/access_token`,
    code_challenge_methods_supported: ['S256'],
  }
}

/**
 * Asks the API of GitHub about the person, and returns the answer as the claims of OpenID Connect. The subject is the number of the
 * account: a login can be given to another person. The address is the primary one, if GitHub verified it.
 */
export async function readGithubClaims(
  library: Library,
  configuration: Configuration,
  accessToken: string,
): Promise<ProviderClaims & PersonClaims> {
  const { issuer } = configuration.serverMetadata()
  const api = issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3`
  const read = async (path: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/vnd.github+json' })
    const url = new URL(`${api}${path}`)
    const response = await library.fetchProtectedResource(configuration, accessToken, url, 'GET', null, headers)
    return response.ok ? await response.json() : undefined
  }
  const [user, emails] = await Promise.all([read('/user'), read('/user/emails')])
  const { id, name, login } = isObject(user) ? user : {}
  const primary = (Array.isArray(emails) ? (emails as readonly unknown[]) : [])
    .filter(isObject)
    .find((one) => one['primary'] === true)
  return {
    sub: Number.isSafeInteger(id) ? String(id) : undefined,
    name: typeof name === 'string' ? name : login,
    email: primary?.['email'],
    email_verified: primary?.['verified'] === true,
  }
}
