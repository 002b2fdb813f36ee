import type { ClientInspection, InspectedRule } from '../ports/inspection.ts'
import { forShell } from '../base/shell.ts'
import type { EpochMs } from '../base/brand.ts'
import { valueOf } from '../protocol/access/judge.ts'
import { findNamed } from '../protocol/token/resource.ts'
import { warning, type Finding } from './finding.ts'

const CHECK = 'access'
/** A rule that is tried for so long is forgotten. */
const TRIED_MS = 30 * 86_400_000
/** At most so many findings, and names in one. */
const NAMED = 10

type Known = Pick<ClientInspection, 'apis' | 'access'>

/** Checks what access rules name, and how long one is tried. */
export function checkAccess(known: Known, now: EpochMs): readonly Finding[] {
  const about = known.access.rules.filter(({ rule }) => rule.state !== 'off')
  return about.flatMap((one) => checkRule(one, known, now)).slice(0, NAMED)
}

function checkRule({ rule, organizationId }: InspectedRule, known: Known, now: EpochMs): readonly Finding[] {
  const { access } = known
  const place = organizationId === undefined ? '' : ` --of ${forShell(organizationId)}`
  const name = `The access rule ${rule.id}${organizationId === undefined ? '' : ` of ${organizationId}`}`
  const isGone = (term: string): boolean => isGoneTerm(term, known)
  const parts = [rule.clients, rule.access, rule.people]
  const gone = parts.flatMap(({ only, except }) => [...only, ...except]).filter(isGone)
  const isIdle = parts.some(({ only }) => only.length > 0 && only.every(isGone))
  const empty = rule.people.except.filter((term) =>
    access.emptyGroups.some((id) => term === `group:${id}` && !isGone(term)),
  )
  const findings: Finding[] = []
  if (gone.length > 0)
    findings.push(
      warning(
        CHECK,
        `${name} names what does not exist: ${list(gone)}.${isIdle ? ' So it takes nothing from any user.' : ''}`,
        isIdle
          ? `Delete it: grantor access-rule delete ${forShell(rule.id)}`.concat(place)
          : `Name the others alone: grantor access-rule update ${forShell(rule.id)}`.concat(place),
      ),
    )
  if (empty.length > 0)
    findings.push(
      warning(
        CHECK,
        `${name} leaves out a group without members: ${list(empty)}. No user is in it.`,
        `Add them: grantor group add-member ${forShell(valueOf(empty[0] ?? ''))} <user>`,
      ),
    )
  if (rule.state === 'report' && rule.updatedAt < now - TRIED_MS)
    findings.push(
      warning(
        CHECK,
        `${name} is only tried, for more than 30 days.`,
        `To let it take: grantor access-rule update --state on ${forShell(rule.id)}`.concat(place),
      ),
    )
  return findings
}

/** An API or a scope is gone if it is not declared now. Terms of other kinds, such as `unverified`, name no record. */
function isGoneTerm(term: string, { apis, access }: Known): boolean {
  const value = valueOf(term)
  if (!term.startsWith('api:') && !term.startsWith('scope:')) return access.gone.has(term)
  const [resource = '', scope] = value.split(' ')
  const api = findNamed(apis, resource)
  return api === undefined || (scope !== undefined && !api.scopes.some(({ name }) => name === scope))
}

function list(terms: readonly string[]): string {
  const names = terms.slice(0, NAMED).map((term) => term.replace(':', ' ').replace(/^(scope \S+) /, '$1='))
  return terms.length > NAMED ? `${names.join(', ')} and ${terms.length - NAMED} more` : names.join(', ')
}
