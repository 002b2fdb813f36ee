import type { AccessRuleDocument } from '../../../admin/access-rule/tasks.ts'
import { formatTime, visible } from '../../lib/columns.ts'
import { argumentOf } from '../../lib/subjects.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../../lib/task-verb.ts'

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
    taskVerb({ ...OF, task: 'access-rule.show', within: 'organization-access-rule.show' }),
    taskVerb<AccessRuleDocument>({ ...OF, task: 'access-rule.update', within: 'organization-access-rule.update' }),
    taskVerb({ ...OF, task: 'access-rule.delete', within: 'organization-access-rule.delete' }),
  ],
)
