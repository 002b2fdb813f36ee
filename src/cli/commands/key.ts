import type { KeyDocument } from '../../admin/key/tasks.ts'
import { columns, formatTime } from '../lib/columns.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor key`. */
export const KEY_VERBS: readonly AddVerb[] = [
  taskVerb<{ readonly keys: readonly (KeyDocument & { readonly state: string })[] }>({
    task: 'key.list',
    say({ keys }, { paint }) {
      const cells = keys.map(({ kid, purpose, algorithm, state, created_at, active_from }) => [
        kid,
        purpose,
        algorithm,
        state,
        formatTime(created_at),
        formatTime(active_from),
      ])
      return columns(['KEY', 'PURPOSE', 'ALGORITHM', 'STATE', 'CREATED (UTC)', 'SIGNS FROM (UTC)'], cells, paint)
    },
  }),
  taskVerb<KeyDocument>({
    task: 'key.rotate',
    say: linesOf,
  }),
  taskVerb<{ readonly kid: string }>({
    task: 'key.retire',
    say: ({ kid }) => [
      `Withdrew the key ${kid}. Within two seconds all servers apply this, and its tokens are inactive at introspection.`,
      'APIs with local verification accept them until they fetch the keys again, five minutes from now at the latest.',
    ],
  }),
]

/** With --now the key signs within a minute of its creation, otherwise a day later. The answer shows it only by these times. */
function linesOf({ kid, created_at, active_from }: KeyDocument): readonly string[] {
  if (Date.parse(active_from) - Date.parse(created_at) > HURRY_MS) {
    return [`Created the key ${kid}. It is published, and signs from ${formatTime(active_from)} UTC.`]
  }
  return [
    `Created the key ${kid}. It signs in ten seconds.`,
    'Verifiers that honour the cache time of five minutes and do not refetch on an unknown kid reject its tokens until then.',
    'Tokens of the previous key stay valid. If that key leaked, withdraw it:',
    '  grantor key retire <key>',
  ]
}

const HURRY_MS = 60_000
