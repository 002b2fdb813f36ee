import type { DomainDocument } from '../../admin/domain.ts'
import { formatTime } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { argumentOf } from '../lib/subjects.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

interface RulesSet {
  readonly domains: readonly DomainDocument[]
}

/** Of the rule that a plan saw (apply/run.ts). */
const PLAN = { previous_changed_at: false } as const
const PATTERN = argumentOf('domain.block', 'pattern')

/** The verbs of `grantor domain`. */
export const DOMAIN_VERBS: readonly AddVerb[] = [
  listVerb<DomainDocument>({
    task: 'domain.list',
    rows: 'domains',
    headings: ['PATTERN', 'VERDICT', 'SET (UTC)', 'NOTE'],
    cells: ({ pattern, verdict, changed_at, note }) => [[pattern, verdict, formatTime(changed_at), note ?? '–']],
    empty: 'No domain is trusted or blocked. Trust the domains of widespread clients: grantor domain trust --known',
  }),
  taskVerb<RulesSet, { readonly known?: true }>({
    task: 'domain.trust',
    members: { pattern: false, ...PLAN },
    options: (command) => command.argument('[pattern]', PATTERN.meaning),
    input({ known }, _, [pattern]) {
      if ((pattern === undefined) === (known === undefined)) throw new UsageError('Give a pattern, or --known.')
      return { pattern }
    },
    say: ({ domains }) => [
      `Trusted from now on: ${domains.map(({ pattern }) => pattern).join(', ')}. To undo this: grantor domain forget <pattern>`,
      ...domains.flatMap(({ pattern }) => aboutHost(pattern, 'trust')),
    ],
  }),
  taskVerb<RulesSet>({
    task: 'domain.block',
    subjects: [PATTERN],
    members: PLAN,
    say: ({ domains: [rule] }) => [
      `${rule?.pattern} is blocked. Running servers apply this within a second. To undo this: grantor domain forget ${forShell(rule?.pattern ?? '<pattern>')}`,
      ...aboutHost(rule?.pattern ?? '', 'block'),
      'To revoke the tokens of a client too: grantor client disable <client_id>',
    ],
  }),
  taskVerb<{ readonly pattern: string }>({
    task: 'domain.forget',
    members: PLAN,
    say: ({ pattern }) => `${pattern} is no longer trusted or blocked.`,
  }),
]

/** A pattern that begins with `*.` is not about the host after it. */
function aboutHost(pattern: string, verb: 'trust' | 'block'): readonly string[] {
  if (!pattern.startsWith('*.')) return []
  const host = pattern.slice('*.'.length)
  return [`This is for the hosts below ${host}, not for ${host} itself: grantor domain ${verb} ${forShell(host)}`]
}
