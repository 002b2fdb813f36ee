import type { Configuration } from 'openid-client'
import { isObject, parseJson } from '../base/json.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { UpstreamGroups } from '../ports/provider-sign-in.ts'
import { isOverage, readGroupValues, valuesIn } from '../protocol/access/provider-groups.ts'
import type { ProviderClaims } from '../protocol/sign-in/provider-identity.ts'
import type { ProviderSettings } from '../protocol/sign-in/provider.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { readGithubTeams } from './github.ts'
import type { Library } from './provider-fetch.ts'

/** What a provider said about a person, and the token with which its API is asked. */
export interface Redeemed {
  /** Of the ID token; of GitHub, what its API says. */
  readonly claims: ProviderClaims
  /** undefined: the userinfo endpoint was not asked. */
  readonly userinfo: ProviderClaims | undefined
  readonly accessToken: string
}

/** Microsoft Graph, `checkMemberGroups`: at most 20 groups a request. */
const GROUPS_OF_REQUEST = 20
const REQUESTS_AT_ONCE = 2
/** The id of a group in Entra. Graph refuses all of a request that has another text. */
const OBJECT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether the ID token says all that there is to know, so that the userinfo endpoint has no more about groups. */
export function saysGroups({ groupClaim }: Pick<ProviderSettings, 'groupClaim'>, idToken: ProviderClaims): boolean {
  if (groupClaim === undefined || isOverage(idToken, groupClaim)) return true
  return readGroupValues(idToken, groupClaim) !== undefined
}

/**
 * Finds the groups of a person: in the ID token, else at userinfo; those of GitHub, and of Entra if the token has none because there are too
 * many, at their API.
 *
 * @throws ProviderUnavailable, or an error of openid-client
 */
export async function findGroups(
  library: Library,
  configuration: Configuration,
  { settings: { kind, groupClaim, groups, graphHost } }: Pick<ProviderRecord, 'settings'>,
  { claims, userinfo = {}, accessToken }: Redeemed,
  signal: AbortSignal,
): Promise<UpstreamGroups> {
  if (groupClaim === undefined) return { kind: 'unasked' }
  if (kind === 'github') return saying(await readGithubTeams(library, configuration, accessToken, signal))
  const values = readGroupValues(claims, groupClaim)
  if (values === undefined && isOverage(claims, groupClaim)) {
    if (graphHost === undefined) return { kind: 'unknown' }
    const asked = valuesIn(groups).filter((value) => OBJECT_ID.test(value))
    return saying(await askGraph(library, configuration, { graphHost, accessToken, asked, signal }))
  }
  return saying(values ?? readGroupValues(userinfo, groupClaim) ?? [])
}

/** undefined: the API refused. */
function saying(values: readonly string[] | 'too-many' | undefined): UpstreamGroups {
  return values === undefined || values === 'too-many' ? { kind: 'unknown' } : { kind: 'said', values }
}

interface Question {
  readonly graphHost: string
  readonly accessToken: string
  readonly asked: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Asks Microsoft Graph in which of the groups the person is, also through other groups. The permission User.Read is enough, and the answer
 * cannot be too long. undefined: it refused.
 */
async function askGraph(
  library: Library,
  configuration: Configuration,
  { graphHost, accessToken, asked, signal }: Question,
): Promise<readonly string[] | undefined> {
  const { hostname } = new URL(`https://${graphHost}`)
  const url = new URL(`${isLoopbackHost(hostname) ? 'http' : 'https'}://${graphHost}/v1.0/me/checkMemberGroups`)
  const check = async (groupIds: readonly string[]): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/json', 'content-type': 'application/json' })
    const body = JSON.stringify({ groupIds })
    const answer = await library.fetchProtectedResource(configuration, accessToken, url, 'POST', body, headers)
    const read = answer.ok ? parseJson(await answer.text()) : undefined
    return isObject(read) ? read['value'] : undefined
  }
  const found: string[] = []
  const step = GROUPS_OF_REQUEST * REQUESTS_AT_ONCE
  for (let start = 0; start < asked.length; start += step) {
    signal.throwIfAborted()
    const both = [asked.slice(start, start + GROUPS_OF_REQUEST), asked.slice(start + GROUPS_OF_REQUEST, start + step)]
    for (const value of await Promise.all(both.filter(({ length }) => length > 0).map(check))) {
      if (!Array.isArray(value)) return undefined
      found.push(...value.filter((one) => typeof one === 'string'))
    }
  }
  return found
}
