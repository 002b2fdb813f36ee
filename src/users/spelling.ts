import type { Context } from '../ports/context.ts'
import { normalizeEmail } from '../protocol/sign-in/email-address.ts'
import type { UserId } from '../protocol/ids.ts'

/** Rows of one slice. */
const SLICE = 200

/**
 * Rewrites a slice of addresses that are stored in another spelling than `normalizeEmail` gives them: a domain in Unicode or with the dot of the
 * root. Such rows come with a backup or a store from before. Where another account has the address in its one spelling, both rows stay, and
 * `findUserByEmail` finds neither (threats.md UI-21). Returns where the next slice starts, '' after the last one.
 */
export async function respellAddresses(
  { clock, store }: Context,
  after: UserId | '',
): Promise<{ readonly next: UserId | ''; readonly respelled: number }> {
  const slice = await store.listOddSpellings({ after, limit: SLICE })
  const outcomes = await Promise.all(
    slice.flatMap(({ id, email: previous }) => {
      const email = normalizeEmail(previous)
      const isKept = email === '' || email === previous
      return isKept ? [] : [store.respellEmail({ id, previous, email, now: clock() })]
    }),
  )
  const respelled = outcomes.filter((outcome) => outcome === 'changed').length
  return { next: slice.length < SLICE ? '' : (slice.at(-1)?.id ?? ''), respelled }
}
