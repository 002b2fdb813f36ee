import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import type { ClientId, GrantId, OpaqueTokenId } from '../protocol/ids.ts'
import { sameText } from '../protocol/secrets.ts'

/**
 * A token that this server issued, whether or not it is still active. RFC 7009 §2.1: it is found without a hint of its type.
 */
export type FoundToken =
  | { readonly kind: 'access'; readonly owner: ClientId; readonly facts: AccessTokenFacts }
  | {
      readonly kind: 'refresh'
      readonly owner: ClientId
      readonly grant: GrantRecord
      /** Whether it is the family's newest token, the only one that can be used. */
      readonly isNewest: boolean
    }

/** Finds out what a token is: a refresh token or an opaque access token by its tag and its row, a JWT by its signature. */
export async function findToken(context: Context, text: string): Promise<FoundToken | undefined> {
  const { secrets, store, tokenReader } = context
  const opened = secrets.verify('refresh-token', text)
  if (opened !== undefined) {
    const grant = await store.findGrant(opened.id as GrantId)
    if (grant?.family === undefined) return undefined
    const isNewest = sameText(grant.family.liveHash, opened.hash)
    return { kind: 'refresh', owner: grant.clientId, grant, isNewest }
  }
  const opaque = secrets.verify('access-token', text)
  if (opaque === undefined) return accessToken(await tokenReader.read(text))
  const record = await store.findOpaqueToken(opaque.id as OpaqueTokenId)
  return record !== undefined && sameText(record.hash, opaque.hash) ? accessToken(record.facts) : undefined
}

function accessToken(facts: AccessTokenFacts | undefined): FoundToken | undefined {
  return facts === undefined ? undefined : { kind: 'access', owner: facts.clientId, facts }
}
