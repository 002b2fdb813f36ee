import type { JwtAcceptance } from '../../admin/jwt-acceptance.ts'
import { formatTime } from './columns.ts'

/** The line below the answer of a command that ends access; none where no JWT is left, or the answer has no such member. */
export function jwtNotice(answer: object, task: string): readonly string[] {
  const { jwt_accepted_until: until, jwt_accepted_for_seconds: seconds } = answer as Partial<JwtAcceptance>
  if (typeof until !== 'string' || seconds === undefined) return []
  const when = READ_EACH_TIME.has(task) ? 'at once' : 'within a second'
  const left = NARROWS.test(task) ? 'answers what is left' : 'reports them as inactive'
  return [
    `APIs with local verification may accept issued JWTs until ${formatTime(until)} UTC (${durationOf(seconds)}). Introspection ${left} ${when}.`,
  ]
}

/**
 * Introspection reads the revocation of one token or grant each time. Accounts, clients and organizations are cached for a
 * second (docs/faults.md).
 */
const READ_EACH_TIME: ReadonlySet<string> = new Set(['token.revoke', 'grant.revoke', 'organization.revoke-grant'])

/** What people get is less, and their tokens may still be active. */
const NARROWS = /^(?:organization-)?(?:access-rule|group)\./

const UNITS = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** In the largest unit of which it has two, rounded up: `15 minutes`, `90 seconds`. */
function durationOf(seconds: number): string {
  const [word, size] = UNITS.find(([, one]) => seconds >= 2 * one) ?? ['second', 1]
  const count = Math.ceil(seconds / size)
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
