import type { Context } from '../ports/context.ts'
import type { Swept } from '../ports/store.ts'
import { after } from '../protocol/brand.ts'

/** Rows of each kind at a time: a few milliseconds of the store. */
const SLICE = 200
/** Spent codes are evidence: a second use revokes what the first one issued (RFC 6749 §4.1.2). */
const EVIDENCE_MS = 24 * 60 * 60 * 1000

type Needs = Pick<Context, 'clock' | 'settings'> & { readonly store: Pick<Context['store'], 'sweepExpired'> }

/** Removes a slice of what expired; called again and again. `grantsAfter` is the answer of the call before. */
export function sweep({ clock, settings, store }: Needs, grantsAfter: Swept['grantsAfter']): Promise<Swept> {
  const now = clock()
  return store.sweepExpired({
    now,
    limit: SLICE,
    grantsAfter,
    unusedSince: after(now, -settings.lifetimes.unusedClient * 1000),
    authorizationsBefore: after(now, -EVIDENCE_MS),
  })
}
