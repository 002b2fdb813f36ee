import type { FiguresDocument } from '../../admin/figures.ts'
import type { ServerDocument } from '../../admin/server.ts'
import { columns, formatTime, visible } from '../lib/columns.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor server`. */
export const SERVER_VERBS: readonly AddVerb[] = [
  taskVerb<ServerDocument>({
    task: 'server.show',
    say: ({ version, issuer, apis, findings }) => [
      `Grantor ${version}, ${issuer}, ${apis} ${apis === 1 ? 'API' : 'APIs'} declared`,
      ...findings.flatMap(({ verdict, check, message, remedy }) => [
        `${verdict.padEnd(7)}  ${check.padEnd(13)}  ${visible(message)}`,
        ...(remedy === null ? [] : [`${' '.repeat(24)}→ ${visible(remedy)}`]),
      ]),
    ],
  }),
  taskVerb<FiguresDocument>({
    task: 'server.figures',
    say: ({ points, totals }, { paint }) =>
      points.length === 0
        ? 'The server has written no figures of this time yet.'
        : columns(
            ['UNTIL (UTC)', 'TOKENS', 'REGISTRATIONS', 'SIGN-INS', 'REFUSALS', '5XX', 'P99 OF TOKEN (MS)'],
            [...points, { ...totals, ended_at: undefined }].map(({ ended_at: at, ...counts }) => [
              at === undefined ? 'all' : formatTime(at),
              ...[counts.tokens, counts.registrations, counts.sign_ins, counts.refusals].map(sumOf),
              String(counts.events['failed'] ?? 0),
              String(counts.p99_ms['token'] ?? '–'),
            ]),
            paint,
          ),
  }),
]

function sumOf(numbers: Readonly<Record<string, number>>): string {
  return String(Object.values(numbers).reduce((sum, value) => sum + value, 0))
}
