import type { DomainDocument, SetDomainDocuments } from '../../admin/domain.ts'
import { formatTime, visible } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { argumentOf } from '../lib/subjects.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

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
  taskVerb<SetDomainDocuments, { readonly known?: true }>({
    task: 'domain.trust',
    members: { pattern: false, ...PLAN },
    options: (command) => command.argument('[pattern]', PATTERN.meaning),
    input({ known }, _, [pattern]) {
      if ((pattern === undefined) === (known === undefined)) throw new UsageError('Give a pattern, or --known.')
      return { pattern }
    },
    adds: ({ domains }) => [
      ...domains.flatMap(replacedRule),
      ...domains.flatMap(({ pattern }) => aboutHost(pattern, 'trust')),
    ],
  }),
  taskVerb<SetDomainDocuments>({
    task: 'domain.block',
    subjects: [PATTERN],
    members: PLAN,
    adds: ({ domains }) => [
      ...domains.flatMap(replacedRule),
      ...domains.flatMap(({ pattern }) => aboutHost(pattern, 'block')),
      'To revoke the tokens of a client too: grantor client disable <client_id>',
    ],
  }),
  taskVerb({ task: 'domain.forget', members: PLAN }),
]

/** A rule that is set again loses its note. */
function replacedRule({ pattern, verdict, note, previous }: SetDomainDocuments['domains'][number]): readonly string[] {
  if (previous === null || (previous.verdict === verdict && previous.note === note)) return []
  return [
    `Until now ${pattern} was ${previous.verdict}${previous.note === null ? '' : `, with the note: ${visible(previous.note)}`}.`,
  ]
}

/** A pattern that begins with `*.` is not about the host after it. */
function aboutHost(pattern: string, verb: 'trust' | 'block'): readonly string[] {
  if (!pattern.startsWith('*.')) return []
  const host = pattern.slice('*.'.length)
  const said = `This is for the hosts below ${host}, not for ${host} itself`
  return [
    verb === 'trust'
      ? `${said}: grantor domain trust ${forShell(host)}`
      : `${said}: grantor domain block ${forShell(host)}`,
  ]
}
