import type { KeyDocument } from '../../admin/key/tasks.ts'
import { columns, formatTime } from '../lib/columns.ts'
import { taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor key`. */
export const KEY_VERBS: readonly AddVerb[] = verbsOf(
  ['key'],
  [
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
      adds: linesOf,
    }),
  ],
)

/** With --now the key signs within a minute of its creation, otherwise a day later. The answer shows it only by these times. */
function linesOf({ created_at, active_from }: KeyDocument): readonly string[] {
  if (Date.parse(active_from) - Date.parse(created_at) > HURRY_MS) return []
  return [
    'Verifiers that honour the cache time of five minutes and do not refetch on an unknown kid reject its tokens until then.',
    'Tokens of the previous key stay valid. If that key leaked, withdraw it:',
    '  grantor key retire <key>',
  ]
}

const HURRY_MS = 60_000
