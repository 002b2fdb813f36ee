import type { Context } from '../ports/context.ts'
import type { SweepPlace, Swept } from '../ports/operation-inputs.ts'
import { chainStart } from '../protocol/audit-link.ts'
import { after, type EpochMs } from '../protocol/brand.ts'

/** Rows of each kind at a time: a few milliseconds of the store. */
const SLICE = 200
/** Spent codes are evidence: a second use revokes what the first one issued (RFC 6749 §4.1.2). */
const EVIDENCE_MS = 24 * 60 * 60 * 1000

/** Nothing was recorded before it. */
const NEVER = 0 as EpochMs

type Needs = Pick<Context, 'clock' | 'settings'> & { readonly store: Pick<Context['store'], 'sweepExpired'> }

/** Where a round of slices begins. */
export const SWEEP_START: SweepPlace = { grantsAfter: '', consentsAfter: '' }

/** Removes a slice of what expired; called again and again. `place` is the answer of the call before. */
export function sweep({ clock, settings, store }: Needs, place: SweepPlace): Promise<Swept> {
  const { grantsAfter, consentsAfter } = place
  const now = clock()
  return store.sweepExpired({
    now,
    limit: SLICE,
    grantsAfter,
    consentsAfter,
    unusedSince: after(now, -settings.lifetimes.unusedClient * 1000),
    authorizationsBefore: after(now, -EVIDENCE_MS),
    auditBefore: settings.auditRetention === 0 ? NEVER : chainStart(after(now, -settings.auditRetention * 1000)),
  })
}

/**
 * Whether as many rows of a kind went as may at a time, so that there are probably more: what expires by the thousand, such
 * as opaque tokens, must go as fast as it comes. Grants and consents are examined, not found: where a quarter of them is dead,
 * as among the oldest, more are, and elsewhere they have time.
 */
export function isWholeSlice(swept: Swept): boolean {
  const { authorizations, sessions, clients, hits, revokedTokens, opaqueTokens, auditLinks } = swept
  const found = Math.max(authorizations, sessions, clients, hits, revokedTokens, opaqueTokens, auditLinks)
  return found >= SLICE || Math.max(swept.grants, swept.consents) >= SLICE / 4
}
