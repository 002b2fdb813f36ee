import type { Context } from '../../ports/context.ts'
import { consentableFrom } from '../../clients/identity-change.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ConsentKey } from '../../ports/records/grant.ts'
import type { AllowedClient } from '../../clients/evaluate-client.ts'
import { findInvalidPrincipal } from '../../tokens/invalid-principal.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import { redirectHost, webHost } from '../../protocol/uri/redirect-uri.ts'
import { resourcesKey } from '../../protocol/token/resource.ts'
import { isWithin } from '../../protocol/token/scope.ts'
import { loadScopeCatalog, sharedScopesSince } from '../../requests/scope-catalog.ts'
import type { OpenChoices, OwnOrganization } from './organization-choice.ts'

type Asked = Pick<AuthorizationRecord, 'redirectUri' | 'resources' | 'scope'>

/** The user that allows an authorization, and the organization for which; undefined: for the user alone. */
export interface Approver {
  readonly userId: UserId
  readonly organization: OwnOrganization | undefined
}

/** Returns the key of a stored consent; undefined for clients that must ask each time (decision 0022). */
export async function consentKey(
  context: Context,
  { client, rights }: AllowedClient,
  asked: Asked,
  { userId, organization }: Approver,
): Promise<ConsentKey | undefined> {
  if (!rights.mayRememberConsent) return undefined
  const { redirectUri, resources } = asked
  const { since, server } = await consentStart(context, client, userId)
  const sharedSince = resources.length > 1 ? sharedScopesSince(await loadScopeCatalog(context), resources) : 0
  return {
    userId,
    clientId: client.id,
    organizationId: organization?.id,
    redirectHost: redirectHost(redirectUri),
    resources: resourcesKey(resources),
    since: Math.max(since, organization?.since ?? 0, sharedSince) as EpochMs,
    under: { server, organization: organization?.notBefore },
  }
}

/**
 * Remembered consents of the user to the client from before `since`, or under another not-before time of the server, are ignored. Another person may have used the account until the
 * user's grants were revoked, so consents end with them (threats.md LNK-03).
 */
export async function consentStart(
  { notBefore, store }: Context,
  client: ClientRecord,
  userId: UserId,
): Promise<{ readonly since: EpochMs; readonly server: EpochMs }> {
  const [user, server] = await Promise.all([store.findUser(userId), notBefore()])
  const since = Math.max(consentableFrom(client), user?.notBefore ?? Number.MAX_SAFE_INTEGER, server) as EpochMs
  return { since, server }
}

/**
 * Returns the approver of an earlier consent that covers the request. Returns undefined if there is no such consent, or if
 * there are several for different organizations: only the user knows which organization is meant now.
 */
export async function findRemembered(
  context: Context,
  allowed: AllowedClient,
  asked: Asked,
  userId: UserId,
  choices: OpenChoices,
): Promise<Approver | undefined> {
  const organizations = choices.kind === 'fixed' ? [choices.organization] : [...choices.organizations, undefined]
  const answers = await Promise.all(
    organizations.map(async (organization) => {
      const key = await consentKey(context, allowed, asked, { userId, organization })
      const scope = key === undefined ? undefined : await context.store.findConsent(key)
      return scope !== undefined && isWithin(asked.scope, scope) ? { userId, organization } : undefined
    }),
  )
  const [remembered, another] = answers.filter((answer) => answer !== undefined)
  return another === undefined ? remembered : undefined
}

/**
 * Whether the user let the client send browsers to the host of this redirect URI: by a remembered consent, or by a grant whose tokens are
 * valid. Never for loopback and apps.
 */
export async function hasAllowedHost(
  context: Context,
  client: ClientRecord,
  userId: UserId,
  redirectUri: string,
): Promise<boolean> {
  const host = webHost(redirectUri)
  if (host === undefined) return false
  const { since, server } = await consentStart(context, client, userId)
  const key = { userId, clientId: client.id, redirectHost: host, since, under: { server } }
  if (await context.store.hasConsented(key)) return true
  const [grant] = await context.store.listLiveGrants({ ...key, now: context.clockCheck.now(), limit: 1 })
  if (grant === undefined || grant.createdAt < key.since) return false
  const principals = { client, userId, organizationId: grant.organizationId, isUnattended: false }
  return (await findInvalidPrincipal(context, principals, grant.createdAt)) === undefined
}
