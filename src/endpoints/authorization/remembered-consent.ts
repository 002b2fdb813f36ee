import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ConsentKey } from '../../ports/records/grant.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import { isLoopback, isPrivateUse, redirectHost } from '../../protocol/redirect-uri.ts'
import { resourcesKey } from '../../protocol/resource.ts'
import { isWithin } from '../../protocol/scope.ts'
import { loadScopeCatalog, sharedScopesSince } from '../token/scope-catalog.ts'
import type { OrganizationChoices, OwnOrganization } from './organization-choice.ts'

type Asked = Pick<AuthorizationRecord, 'redirectUri' | 'resources' | 'scope'>

/** Who allows it, and for which of their organizations; none: without one. */
export interface Approver {
  readonly userId: UserId
  readonly organization: OwnOrganization | undefined
}

/** Under which a consent is remembered; undefined for clients that must always ask (decisions.md D8). */
export async function consentKey(
  context: Pick<Context, 'apis' | 'settings'>,
  client: ClientRecord,
  asked: Asked,
  { userId, organization }: Approver,
): Promise<ConsentKey | undefined> {
  // RFC 8252 §8.6: any program may listen on loopback or claim a scheme, so a known client proves nothing there.
  const anyoneMayListen = isLoopback(asked.redirectUri) || isPrivateUse(asked.redirectUri)
  if (client.verifiedAt === undefined && anyoneMayListen) return undefined
  const { redirectUri, resources } = asked
  const sharedSince = resources.length > 1 ? sharedScopesSince(await loadScopeCatalog(context), resources) : 0
  return {
    userId,
    clientId: client.id,
    organizationId: organization?.id,
    redirectHost: redirectHost(redirectUri),
    resources: resourcesKey(resources),
    since: Math.max(identityStart(client), organization?.since ?? 0, sharedSince) as EpochMs,
  }
}

/** Consents and authorizations from before this moment were for another name or redirect host. */
export function identityStart(client: ClientRecord): EpochMs {
  return client.identityFrom ?? (0 as EpochMs)
}

/**
 * The answer that the person gave before to all of this; undefined when they must be asked: nothing is remembered, or
 * consents for several organizations are, and nobody else can know which of them is meant now.
 */
export async function findRemembered(
  context: Pick<Context, 'apis' | 'settings'> & { readonly store: Pick<Context['store'], 'findConsent'> },
  client: ClientRecord,
  asked: Asked,
  userId: UserId,
  choices: OrganizationChoices,
): Promise<Approver | undefined> {
  if (choices.kind === 'not-a-member') return undefined
  const organizations = choices.kind === 'fixed' ? [choices.organization] : [...choices.organizations, undefined]
  const answers = await Promise.all(
    organizations.map(async (organization) => {
      const key = await consentKey(context, client, asked, { userId, organization })
      const scope = key === undefined ? undefined : await context.store.findConsent(key)
      return scope !== undefined && isWithin(asked.scope, scope) ? { userId, organization } : undefined
    }),
  )
  const [remembered, another] = answers.filter((answer) => answer !== undefined)
  return another === undefined ? remembered : undefined
}
