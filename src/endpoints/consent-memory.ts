import type { Context } from '../ports/context.ts'
import type { AuthorizationRecord, ClientRecord, ConsentKey } from '../ports/records.ts'
import type { EpochMs } from '../protocol/brand.ts'
import type { UserId } from '../protocol/ids.ts'
import { isLoopback, isPrivateUse, redirectHost } from '../protocol/redirect-uri.ts'
import { resourcesKey } from '../protocol/resource.ts'
import { isWithin } from '../protocol/scope.ts'

type Asked = Pick<AuthorizationRecord, 'redirectUri' | 'resources' | 'scope'>

/** Under which a consent is remembered; undefined for clients that must always ask (decisions.md D8). */
export function consentKey(client: ClientRecord, asked: Asked, userId: UserId): ConsentKey | undefined {
  // RFC 8252 §8.6: any program may listen on loopback or claim a scheme, so a known client proves nothing there.
  const anyoneMayListen = isLoopback(asked.redirectUri) || isPrivateUse(asked.redirectUri)
  if (client.verifiedAt === undefined && anyoneMayListen) return undefined
  const { redirectUri, resources } = asked
  return {
    userId,
    clientId: client.id,
    redirectHost: redirectHost(redirectUri),
    resources: resourcesKey(resources),
    since: identityStart(client),
  }
}

/** Consents and authorizations from before this moment were for another name or redirect host. */
export function identityStart(client: ClientRecord): EpochMs {
  return client.identityFrom ?? (0 as EpochMs)
}

/** Whether the person allowed all of this before. */
export async function isRemembered(
  context: { readonly store: Pick<Context['store'], 'findConsent'> },
  client: ClientRecord,
  asked: Asked,
  userId: UserId,
): Promise<boolean> {
  const key = consentKey(client, asked, userId)
  const scope = key === undefined ? undefined : await context.store.findConsent(key)
  return scope !== undefined && isWithin(asked.scope, scope)
}
