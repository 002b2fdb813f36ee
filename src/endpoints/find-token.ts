import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records.ts'
import type { AccessTokenFacts } from '../protocol/access-token.ts'
import { toSeconds, type EpochMs } from '../protocol/brand.ts'
import type { ClientId, GrantId } from '../protocol/ids.ts'
import { sameText } from '../protocol/secrets.ts'
import { isLiveUser } from './grants/grant.ts'

/** A token that this server issued, whatever became of it. RFC 7009 §2.1: found without a hint of its type. */
export type FoundToken =
  | { readonly kind: 'access'; readonly owner: ClientId; readonly facts: AccessTokenFacts }
  | {
      readonly kind: 'refresh'
      readonly owner: ClientId
      readonly grant: GrantRecord
      /** Whether it is the one that may be used now. */
      readonly isNewest: boolean
    }

type Needs = Pick<Context, 'secrets' | 'tokenReader'> & {
  readonly store: Pick<Context['store'], 'findClient' | 'findGrant' | 'findUser' | 'isTokenRevoked'>
}

export async function findToken({ secrets, store, tokenReader }: Needs, text: string): Promise<FoundToken | undefined> {
  const opened = secrets.open('refresh-token', text)
  if (opened === undefined) {
    const facts = await tokenReader.read(text)
    return facts === undefined ? undefined : { kind: 'access', owner: facts.clientId, facts }
  }
  const grant = await store.findGrant(opened.id as GrantId)
  if (grant?.family === undefined) return undefined
  const isNewest = sameText(grant.family.liveHash, opened.hash)
  return { kind: 'refresh', owner: grant.clientId, grant, isNewest }
}

/** Whether a resource may rely on it at this moment: not expired, and nobody that it speaks for is gone (decisions.md D5). */
export async function isLive({ store }: Needs, found: FoundToken, now: EpochMs): Promise<boolean> {
  const client = await store.findClient(found.owner)
  if (client === undefined || client.disabledAt !== undefined) return false
  if (found.kind === 'refresh') {
    const { grant, isNewest } = found
    return isNewest && now < (grant.family?.idleExpiresAt ?? 0) && isLiveGrant({ store }, grant, now)
  }
  const { expiresAt, grantId, tokenId } = found.facts
  if (expiresAt <= toSeconds(now)) return false
  const [isRevoked, grant] = await Promise.all([
    store.isTokenRevoked(tokenId),
    grantId === undefined ? undefined : store.findGrant(grantId),
  ])
  if (isRevoked) return false
  return grantId === undefined || isLiveGrant({ store }, grant, now)
}

async function isLiveGrant(
  { store }: { readonly store: Pick<Context['store'], 'findUser'> },
  grant: GrantRecord | undefined,
  now: EpochMs,
): Promise<boolean> {
  if (grant === undefined || grant.revokedAt !== undefined || grant.expiresAt <= now) return false
  return isLiveUser(await store.findUser(grant.userId), grant.createdAt)
}
