import type { AccessRuleDocument, ShownAccessRule } from '../../../admin/access-rule/tasks.ts'
import { columns, formatTime, nameOf, record, visible } from '../../lib/columns.ts'
import { argumentOf } from '../../lib/subjects.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../../lib/task-verb.ts'
import type { Terminal } from '../../lib/terminal.ts'

/** `--organization` names people. */
const OF = { withinOption: 'of' } as const
const RULE = argumentOf('access-rule.show', 'rule_id')

/** The verbs of `grantor access-rule`. */
export const ACCESS_RULE_VERBS: readonly AddVerb[] = verbsOf(
  ['access-rule'],
  [
    listVerb<AccessRuleDocument>({
      ...OF,
      task: 'access-rule.list',
      within: 'organization-access-rule.list',
      rows: 'access_rules',
      headings: ['ID', 'STATE', 'CHANGED (UTC)', 'READS'],
      cells: ({ rule_id, state, updated_at, reads }) => [[rule_id, state, formatTime(updated_at), visible(reads)]],
      empty: 'There are no access rules.',
    }),
    taskVerb<AccessRuleDocument>({
      ...OF,
      task: 'access-rule.create',
      within: 'organization-access-rule.create',
      subjects: [RULE],
    }),
    taskVerb<ShownAccessRule>({
      ...OF,
      task: 'access-rule.show',
      within: 'organization-access-rule.show',
      say: sayRule,
    }),
    taskVerb<AccessRuleDocument>({ ...OF, task: 'access-rule.update', within: 'organization-access-rule.update' }),
    taskVerb({ ...OF, task: 'access-rule.delete', within: 'organization-access-rule.delete' }),
  ],
)

function sayRule({ grants, names, ...rule }: ShownAccessRule, { paint }: Terminal): readonly string[] {
  const own = record(rule, paint)
  if (grants.length === 0) return [...own, 'It is about none of the newest 1,000 grants.']
  const headings = ['GRANT', 'USER', 'CLIENT', 'ORGANIZATION', 'ALLOWED (UTC)', 'SCOPES']
  const cells = grants.map((grant) => [
    grant.grant_id,
    nameOf(names, grant.user_id),
    nameOf(names, grant.client_id),
    nameOf(names, grant.organization_id),
    formatTime(grant.created_at),
    visible(grant.scopes.join(' ')),
  ])
  return [
    ...own,
    'It is about these of the newest 1,000 grants, of which at most 50 are listed:',
    ...columns(headings, cells, paint),
  ]
}
