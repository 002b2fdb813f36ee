import type { DomainDocument } from '../../admin/domain.ts'
import { formatTime } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface RulesSet {
  readonly domains: readonly DomainDocument[]
}

const PATTERN = 'a host, "*." and a host for all hosts below it, or the URL of a client metadata document'
const NOTE = ['--note <text>', 'a note for other administrators'] as const

/** The verbs of `grantor domain`. */
export const DOMAIN_VERBS: readonly AddVerb[] = [
  listVerb<DomainDocument>({
    task: 'domain.list',
    rows: 'domains',
    headings: ['PATTERN', 'VERDICT', 'SET (UTC)', 'NOTE'],
    cells: ({ pattern, verdict, changed_at, note }) => [[pattern, verdict, formatTime(changed_at), note ?? '–']],
    empty: 'No domain is trusted or blocked. Trust the domains of widespread clients: grantor domain trust --known',
  }),
  taskVerb<RulesSet, { readonly known?: true; readonly note?: string }>({
    task: 'domain.trust',
    options: (command) =>
      command
        .argument('[pattern]', PATTERN)
        .option('--known', 'the domains of widespread clients, instead of a pattern')
        .option(...NOTE),
    input({ known, note }, _, [pattern]) {
      if ((pattern === undefined) === (known === undefined)) throw new UsageError('Give a pattern, or --known.')
      return { pattern, known, note }
    },
    say: ({ domains }) => [
      `Trusted from now on: ${domains.map(({ pattern }) => pattern).join(', ')}. To undo this: grantor domain forget <pattern>`,
    ],
  }),
  taskVerb<RulesSet, { readonly note?: string }>({
    task: 'domain.block',
    options: (command) => command.argument('<pattern>', PATTERN).option(...NOTE),
    input: ({ note }, _, [pattern]) => ({ pattern, note }),
    say: ({ domains: [rule] }) => [
      `${rule?.pattern} is blocked. Running servers apply this within a second. To undo this: grantor domain forget ${rule?.pattern}`,
      'To revoke the tokens of a client too: grantor client disable <client_id>',
    ],
  }),
  taskVerb<{ readonly pattern: string }>({
    task: 'domain.forget',
    say: ({ pattern }) => `${pattern} is no longer trusted or blocked.`,
  }),
]
