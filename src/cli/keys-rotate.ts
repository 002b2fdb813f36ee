import type { Command } from 'commander'
import { describeKey, rotateKeys } from '../admin/keys.ts'
import { moment } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, withJson } from './verb.ts'

/** `grantor keys rotate` */
export function addKeysRotate(parent: Command, terminal: Terminal): void {
  withJson(parent.command('rotate'))
    .description('Make the next signing key. It is published at once, and signs a day later.')
    .option(
      '--now',
      'it signs in ten seconds, though verifiers may not know it yet; for when a key is no secret any more',
    )
    .action(async ({ now, json }: { readonly now?: true; readonly json?: true }) => {
      const key = await inWorkshop((context) => rotateKeys(context, now ? 'now' : 'published'))
      if (json) terminal.printJson(describeKey(key))
      else if (now) {
        terminal.print([
          `Made the key ${key.id}. It signs in ten seconds.`,
          'Verifiers that keep the keys for five minutes, as they are told, and look for no new one before, refuse its tokens',
          'until then. Tokens of the key before stay valid. If somebody else may have that key, withdraw it:',
          'grantor keys retire <key>',
        ])
      } else
        terminal.print([`Made the key ${key.id}. It is published, and signs from ${moment(key.activeFrom)} UTC on.`])
    })
}
