import type { OpaqueTokenRecord } from '../ports/records/api.ts'
import type { Hit } from '../ports/operations/server.ts'
import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import type { OpaqueTokenId } from '../protocol/ids.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import { MAXIMA } from '../base/maxima.ts'

/** What both stores share: the columns of the schema (migrations/), and the records that are made from them. */

/** A value of a column or of a statement's parameter. */
export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

/** The browsers that are remembered for each user. Beyond it the one seen longest ago is removed. */
export const BROWSER_LIMIT = MAXIMA.browsers.most

/** The sessions of a user. Beyond it the oldest is removed, as if it had expired. */
export const SESSION_LIMIT = MAXIMA.sessions.most

/**
 * Returns the start of the fixed window. Fixed windows can be counted exactly, and their rows can be swept once the window
 * is over.
 */
export function windowStart({ now, windowMs }: Pick<Hit, 'now' | 'windowMs'>): number {
  return now - (now % windowMs)
}

/** Returns an id below which all ids from before a time sort: ids start with 12 hex digits of milliseconds. */
export function idBefore(time: number, prefix: string): string {
  return prefix + Math.max(0, time).toString(16).padStart(12, '0')
}

/** Reads the record from the row that a query found, if it found one. */
export function recordOf<T>(row: unknown, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row as Row)
}

export function opaqueTokenOf(row: Row): OpaqueTokenRecord {
  const facts = JSON.parse(row['facts'] as string) as AccessTokenFacts
  return {
    id: row['token_id'] as OpaqueTokenId,
    hash: row['token_hash'] as SecretHash,
    // JSON has no undefined, so absent members are set to undefined here.
    facts: {
      ...facts,
      userId: facts.userId,
      organizationId: facts.organizationId,
      grantId: facts.grantId,
      authentication: facts.authentication,
    },
  }
}
