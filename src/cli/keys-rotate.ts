import { Option, type Command } from 'commander'
import type { KeyDocument } from '../admin/key-tasks.ts'
import { moment } from './columns.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

interface Options {
  readonly now?: true
  readonly algorithm?: string
}

/** `grantor key rotate` */
export function addKeysRotate(parent: Command, terminal: Terminal): void {
  addTaskVerb<KeyDocument, Options>(parent, terminal, {
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
  })
}

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
