import { asAdministrator, COMMAND_LINE } from '../../admin/administrators.ts'
import { refuseIssuerOfApi } from '../../admin/api/api.ts'
import { readConfig } from '../../config/config.ts'
import { withJson } from '../lib/options.ts'
import { UsageError } from '../lib/failure.ts'
import { withRuntime } from '../lib/runtime.ts'
import type { AddVerb } from '../lib/task-verb.ts'

/** What becomes invalid when the issuer changes. `passkeyOnlyUsers`: how many users have no other sign-in method. */
const consequencesOf = (passkeyOnlyUsers: number): readonly string[] => [
  'Access tokens that are JWTs name the previous issuer: this server and APIs that verify the issuer reject them. Refresh tokens and opaque access tokens stay valid.',
  'Users sign in again if the host has changed, because browsers send cookies to one host only.',
  `Passkeys work at one host only. If the host has changed, users add others after signing in another way. ${aboutOthers(passkeyOnlyUsers)}`,
  'Clients and APIs that are configured with the previous issuer must be given the new one. Clients that registered themselves have the previous address for managing their registration.',
]

function aboutOthers(count: number): string {
  if (count === 0) return 'No user depends on one.'
  const who = count === 1 ? '1 user has no other way' : `${count} users have no other way`
  return `${who}: give each a link with "grantor user create-link <email>".`
}

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
        const passkeyOnlyUsers = await withRuntime(terminal, 'refuse', async (context) => {
          const { store, settings } = asAdministrator(context, COMMAND_LINE)
          await refuseIssuerOfApi({ store }, issuer)
          await store.replaceSetting({ name: 'issuer', value: issuer })
          return store.countPasskeyOnlyUsers({ passwordsCount: settings.passwords === 'on' })
        })
        const consequences = consequencesOf(passkeyOnlyUsers)
        if (json) terminal.printJson({ issuer, passkey_only_users: passkeyOnlyUsers, consequences })
        else terminal.print([`The database belongs to the issuer ${issuer}. Restart the servers.`, '', ...consequences])
      })
  },
]
