import type { Command } from 'commander'
import { retireKey } from '../admin/keys.ts'
import type { Terminal } from './terminal.ts'
import { inWorkshop, subjectOf, withJson } from './verb.ts'

/** `grantor keys retire` */
export function addKeysRetire(parent: Command, terminal: Terminal): void {
  withJson(parent.command('retire'))
    .description('Withdraw a signing key that somebody else may have: what it signed is refused from now on.')
    .argument('[key]', 'its id')
    .option('--key <id>', 'the same')
    .action(async (argument: string | undefined, options: { readonly key?: string; readonly json?: true }) => {
      const text = subjectOf('key', argument, options.key)
      const id = await inWorkshop((context) => retireKey(context, text))
      if (options.json) terminal.printJson({ kid: id, retired: true })
      else {
        terminal.print([
          `Withdrew the key ${id}. Running servers know it within two seconds: its tokens are inactive at introspection.`,
          'APIs that verify by themselves accept them until they fetch the keys again, five minutes from now at the latest.',
        ])
      }
    })
}
