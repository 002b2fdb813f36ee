import type { Context } from '../ports/context.ts'
import type { LoginEnd } from '../ports/operation-inputs.ts'
import { after } from '../protocol/brand.ts'

/** The clocks of nodes differ by less. */
const SKEW_MS = 60 * 1000

/** The times of an operation that revokes grants now, with the codes that can still be redeemed. */
export function loginEnd({ clock, settings }: Pick<Context, 'clock' | 'settings'>): LoginEnd {
  const now = clock()
  const { authorization, code } = settings.lifetimes
  return { now, codesSince: after(now, -(authorization + code) * 1000 - SKEW_MS) }
}
