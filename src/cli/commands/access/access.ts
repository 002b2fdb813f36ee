import type { AccessExplanation } from '../../../admin/access/explain.ts'
import { columns, formatTime, visible } from '../../lib/columns.ts'
import { EXPLAINED_USER, NEW_CLIENT } from '../../lib/subjects.ts'
import { taskVerb, verbsOf, type AddVerb } from '../../lib/task-verb.ts'
import type { Terminal } from '../../lib/terminal.ts'

type Way = AccessExplanation['ways'][number]

/** The verbs of `grantor access`. */
export const ACCESS_VERBS: readonly AddVerb[] = verbsOf(
  ['access'],
  [
    taskVerb<AccessExplanation>({
      task: 'access.explain',
      within: 'organization-access.explain',
      filters: [EXPLAINED_USER, NEW_CLIENT],
      members: { resource: 'api' },
      say: sayExplanation,
    }),
  ],
)

function sayExplanation(
  { ways, groups, grants, more_apis }: AccessExplanation,
  { paint }: Terminal,
): readonly string[] {
  return [
    ...ways.flatMap((way) => sayWay(way, paint)),
    ...(more_apis ? ['There are more APIs. To explain one: --api <uri>'] : []),
    ...groups
      .filter(({ counts }) => counts)
      .map(({ group_id, source: by, expires_at }) =>
        visible(`In ${group_id}, said by ${by}${expires_at === null ? '' : `, until ${formatTime(expires_at)} UTC`}.`),
      ),
    ...grants.map(sayGrant),
  ]
}

function sayWay({ way, obstacles, apis, rules }: Way, paint: Terminal['paint']): readonly string[] {
  const cells = apis.flatMap(({ resource, gives, why, scopes }) => {
    const at = resource ?? 'sign-in'
    const bare = [at, '–', gives ? 'yes' : 'no', why ?? '']
    const rows = scopes.map((one) => [at, one.scope, one.gives ? 'yes' : 'no', noteOf(one)])
    return rows.length === 0 || why !== null ? [bare, ...rows] : rows
  })
  const tried = rules.filter(({ state }) => state === 'report')
  return [
    ...(way === 'sign-in' ? [] : ['The client for the user, who does not sign in:']),
    ...obstacles.map(({ why }) => visible(`Nothing is given. ${why}`)),
    ...columns(
      ['API', 'SCOPE', 'GIVEN', 'WHY'],
      cells.map((row) => row.map(visible)),
      paint,
    ),
    ...tried.map(({ rule_id, reads }) => visible(`The rule ${rule_id ?? ''} is tried, and would say: ${reads ?? ''}`)),
  ]
}

function noteOf({ gives, on_request: isOnRequest, why }: Way['apis'][number]['scopes'][number]): string {
  const request = gives && isOnRequest ? ['Only to a request that names it.'] : []
  return [...request, ...(why === null ? [] : [why])].join(' ')
}

function sayGrant(grant: AccessExplanation['grants'][number]): string {
  const { grant_id, organization_id, created_at, scope, next_scope, reason } = grant
  const where = organization_id === null ? '' : ` for ${organization_id}`
  const has = `Grant ${grant_id} of ${formatTime(created_at)} UTC${where} has ${scope === '' ? 'no scope' : scope}; `
  const next =
    next_scope === null
      ? `it gets no further token (${reason ?? ''}).`
      : `its next token has ${next_scope === '' ? 'no scope' : next_scope}.`
  return visible(has + next)
}
