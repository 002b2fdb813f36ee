import { asAdministrator, COMMAND_LINE } from '../../admin/administrators.ts'
import { readConfig } from '../../config/config.ts'
import { withJson } from '../lib/options.ts'
import { UsageError } from '../lib/failure.ts'
import { withRuntime } from '../lib/runtime.ts'
import type { AddVerb } from '../lib/task-verb.ts'

/** What becomes invalid when the issuer changes. */
const CONSEQUENCES: readonly string[] = [
  'Access tokens that are JWTs name the previous issuer: this server and APIs that verify the issuer reject them. Refresh tokens and opaque access tokens stay valid.',
  'Users sign in again if the host has changed, because browsers send cookies to one host only.',
  'Passkeys work at one host only. If the host has changed, users sign in another way; for those who have none, run: grantor user create-link <email>',
  'Clients and APIs that are configured with the previous issuer must be given the new one. Clients that registered themselves have the previous address for managing their registration.',
]

/** The verbs of `grantor issuer`. */
export const ISSUER_VERBS: readonly AddVerb[] = [
  (noun, terminal) => {
    withJson(noun.command('set'))
      .description('Change the issuer that belongs to the database, to that of GRANTOR_ISSUER.')
      .argument('<url>', 'the new issuer, as in GRANTOR_ISSUER')
      .action(async (url: string, { json }: { readonly json?: true }) => {
        const { issuer } = readConfig()
        // The setting is validated, and the servers that start next use it.
        if (url !== issuer) throw new UsageError(`GRANTOR_ISSUER is ${issuer}. Set it to the new issuer first.`)
        await withRuntime(terminal, 'refuse', async (context) => {
          const { store } = asAdministrator(context, COMMAND_LINE)
          await store.replaceSetting({ name: 'issuer', value: issuer })
        })
        if (json) terminal.printJson({ issuer, consequences: CONSEQUENCES })
        else terminal.print([`The database belongs to the issuer ${issuer}. Restart the servers.`, '', ...CONSEQUENCES])
      })
  },
]
