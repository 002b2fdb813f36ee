import type { ServerDocument } from '../../admin/server.ts'
import { visible } from '../lib/columns.ts'
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
]
