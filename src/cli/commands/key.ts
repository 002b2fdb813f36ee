import { Option } from 'commander'
import type { KeyDocument } from '../../admin/key-tasks.ts'
import { columns, moment } from '../lib/columns.ts'
import { KEY } from '../lib/subjects.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface RotateOptions {
  readonly now?: true
  readonly algorithm?: string
}

/** The verbs of `grantor key`. */
export const KEY_VERBS: readonly AddVerb[] = [
  taskVerb<{ readonly keys: readonly (KeyDocument & { readonly state: string })[] }>({
    verb: 'list',
    task: 'key.list',
    say({ keys }, { paint }) {
      const cells = keys.map(({ kid, algorithm, state, created_at, active_from }) => [
        kid,
        algorithm,
        state,
        moment(created_at),
        moment(active_from),
      ])
      return columns(['KEY', 'ALGORITHM', 'STATE', 'MADE (UTC)', 'SIGNS FROM (UTC)'], cells, paint)
    },
  }),
  taskVerb<KeyDocument, RotateOptions>({
    verb: 'rotate',
    task: 'key.rotate',
    options: (command) =>
      command
        .option(
          '--now',
          'it signs in ten seconds, though verifiers may not know it yet; for when a key is no secret any more',
        )
        .addOption(
          new Option('--algorithm <name>', "whose next key it is; the server's own when not given").choices([
            'ES256',
            'EdDSA',
            'RS256',
          ]),
        ),
    input: ({ now, algorithm }) => ({ now: now === true, algorithm }),
    say: (key) => linesOf(key),
  }),
  taskVerb<{ readonly kid: string }>({
    verb: 'retire',
    task: 'key.retire',
    subjects: [KEY],
    say: ({ kid }) => [
      `Withdrew the key ${kid}. Running servers know it within two seconds: its tokens are inactive at introspection.`,
      'APIs with local verification accept them until they fetch the keys again, five minutes from now at the latest.',
    ],
  }),
]

/** Which of the two was asked for shows in the key itself: the other one waits a day. */
function linesOf({ kid, created_at, active_from }: KeyDocument): readonly string[] {
  if (Date.parse(active_from) - Date.parse(created_at) > HURRY_MS) {
    return [`Made the key ${kid}. It is published, and signs from ${moment(active_from)} UTC on.`]
  }
  return [
    `Made the key ${kid}. It signs in ten seconds.`,
    'Verifiers that keep the keys for five minutes, as they are told, and look for no new one before, refuse its tokens',
    'until then. Tokens of the key before stay valid. If somebody else may have that key, withdraw it:',
    'grantor key retire <key>',
  ]
}

const HURRY_MS = 60_000
