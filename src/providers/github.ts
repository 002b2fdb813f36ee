import type { Configuration, ServerMetadata } from 'openid-client'
import { isObject } from '../base/json.ts'
import { MAXIMA } from '../base/maxima.ts'
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
  const read = apiOf(library, configuration, accessToken)
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

/** GitHub, `List teams for the authenticated user`: at most 100 a page. */
const TEAMS_OF_PAGE = 100

/**
 * Asks in which teams the person is: `acme/developers`, the organization and the short name of the team. A child team does not count as its
 * parent. undefined: GitHub refused, for example because the scope lacks `read:org`.
 */
export async function readGithubTeams(
  library: Library,
  configuration: Configuration,
  accessToken: string,
  signal: AbortSignal,
): Promise<readonly string[] | 'too-many' | undefined> {
  const read = apiOf(library, configuration, accessToken)
  const teams: string[] = []
  for (let page = 1; teams.length <= MAXIMA.providerGroupValues.most; page += 1) {
    signal.throwIfAborted()
    const found = await read(`/user/teams?per_page=${TEAMS_OF_PAGE}&page=${page}`)
    if (!Array.isArray(found)) return undefined
    teams.push(...found.map(teamOf))
    if (found.length < TEAMS_OF_PAGE) return teams.length > MAXIMA.providerGroupValues.most ? 'too-many' : teams
  }
  return 'too-many'
}

function teamOf(team: unknown): string {
  const { slug, organization } = isObject(team) ? team : {}
  return `${isObject(organization) ? String(organization['login']) : ''}/${String(slug)}`
}

/** Reads a path of the API. undefined: it refused. */
function apiOf(library: Library, configuration: Configuration, accessToken: string) {
  const { issuer } = configuration.serverMetadata()
  const api = issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3`
  return async (path: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/vnd.github+json' })
    const url = new URL(`${api}${path}`)
    const response = await library.fetchProtectedResource(configuration, accessToken, url, 'GET', null, headers)
    return response.ok ? await response.json() : undefined
  }
}
