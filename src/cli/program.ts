import { Command, CommanderError } from 'commander'
import { VERSION } from '../build.ts'
import { addAdminCreate } from './admin-create.ts'
import { addAdminList } from './admin-list.ts'
import { addAdminOpenapi } from './admin-openapi.ts'
import { addAdminRevoke } from './admin-revoke.ts'
import { addApiCreate } from './api-create.ts'
import { addApiCredentials } from './api-credentials.ts'
import { addApiDelete } from './api-delete.ts'
import { addApiList } from './api-list.ts'
import { addApiShow } from './api-show.ts'
import { addApiUpdate } from './api-update.ts'
import { addAuditList } from './audit-list.ts'
import { addAuditVerify } from './audit-verify.ts'
import { addClientApproveScopes } from './client-approve-scopes.ts'
import { addClientDelete } from './client-delete.ts'
import { addClientDisable } from './client-disable.ts'
import { addClientEnable } from './client-enable.ts'
import { addClientExpire } from './client-expire.ts'
import { addClientList } from './client-list.ts'
import { addClientRotateSecret } from './client-rotate-secret.ts'
import { addClientShow } from './client-show.ts'
import { addClientUnverify } from './client-unverify.ts'
import { addClientVerify } from './client-verify.ts'
import { addDoctor } from './doctor.ts'
import { describeFailure, UsageError } from './failure.ts'
import { addGrantList } from './grant-list.ts'
import { addGrantRevoke } from './grant-revoke.ts'
import { addGrantShow } from './grant-show.ts'
import { addKeysList } from './keys-list.ts'
import { addKeysRetire } from './keys-retire.ts'
import { addKeysRotate } from './keys-rotate.ts'
import { addMigrate } from './migrate.ts'
import { addOrgAddMember } from './org-add-member.ts'
import { addOrgCreate } from './org-create.ts'
import { addOrgDelete } from './org-delete.ts'
import { addOrgDisableInstallation } from './org-disable-installation.ts'
import { addOrgDisableMember } from './org-disable-member.ts'
import { addOrgDisable } from './org-disable.ts'
import { addOrgEnableInstallation } from './org-enable-installation.ts'
import { addOrgEnableMember } from './org-enable-member.ts'
import { addOrgEnable } from './org-enable.ts'
import { addOrgExpire } from './org-expire.ts'
import { addOrgInstall } from './org-install.ts'
import { addOrgInstallations } from './org-installations.ts'
import { addOrgList } from './org-list.ts'
import { addOrgMembers } from './org-members.ts'
import { addOrgRemoveMember } from './org-remove-member.ts'
import { addOrgRename } from './org-rename.ts'
import { addOrgShow } from './org-show.ts'
import { addOrgUninstall } from './org-uninstall.ts'
import { addPerformAuthorizationCode } from './perform-authorization-code.ts'
import { addServe } from './serve.ts'
import type { Terminal } from './terminal.ts'
import { addTokenExpireAll } from './token-expire-all.ts'
import { addTokenInspect } from './token-inspect.ts'
import { addTokenRevoke } from './token-revoke.ts'
import { addUserCreate } from './user-create.ts'
import { addUserDelete } from './user-delete.ts'
import { addUserDisable } from './user-disable.ts'
import { addUserEnable } from './user-enable.ts'
import { addUserExpire } from './user-expire.ts'
import { addUserList } from './user-list.ts'
import { addUserSetPassword } from './user-set-password.ts'
import { addUserShow } from './user-show.ts'

type AddVerb = (parent: Command, terminal: Terminal) => void

/** The verbs that stand below a noun. */
const NOUNS: readonly (readonly [noun: string, description: string, verbs: readonly AddVerb[]])[] = [
  [
    'user',
    'Accounts that people sign in with.',
    [
      addUserCreate,
      addUserList,
      addUserShow,
      addUserSetPassword,
      addUserDisable,
      addUserEnable,
      addUserExpire,
      addUserDelete,
    ],
  ],
  [
    'client',
    'Registered OAuth clients.',
    [
      addClientList,
      addClientShow,
      addClientVerify,
      addClientUnverify,
      addClientApproveScopes,
      addClientRotateSecret,
      addClientDisable,
      addClientEnable,
      addClientExpire,
      addClientDelete,
    ],
  ],
  [
    'org',
    'Organizations, their members, and the clients that are installed for them.',
    [
      addOrgCreate,
      addOrgList,
      addOrgShow,
      addOrgRename,
      addOrgDisable,
      addOrgEnable,
      addOrgExpire,
      addOrgDelete,
      addOrgAddMember,
      addOrgMembers,
      addOrgDisableMember,
      addOrgEnableMember,
      addOrgRemoveMember,
      addOrgInstall,
      addOrgInstallations,
      addOrgDisableInstallation,
      addOrgEnableInstallation,
      addOrgUninstall,
    ],
  ],
  [
    'api',
    'APIs that tokens are issued for, and their scopes.',
    [addApiCreate, addApiList, addApiShow, addApiUpdate, addApiCredentials, addApiDelete],
  ],
  ['grant', 'What people allowed clients.', [addGrantList, addGrantShow, addGrantRevoke]],
  ['token', 'Access and refresh tokens that you hold.', [addTokenInspect, addTokenRevoke, addTokenExpireAll]],
  [
    'admin',
    'Credentials of administrators, for --server and the admin HTTP API.',
    [addAdminCreate, addAdminList, addAdminRevoke, addAdminOpenapi],
  ],
  ['keys', 'Keys that sign access tokens.', [addKeysList, addKeysRotate, addKeysRetire]],
  ['audit', 'The record of what happened.', [addAuditList, addAuditVerify]],
  ['perform', 'Play a flow against a running server, as a client would.', [addPerformAuthorizationCode]],
]

/** Runs one command line; answers the exit code: 0, 1 when it failed, 2 when it was typed wrong. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    // Commander has printed what is wrong, or the help that was asked for.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2
    terminal.stderr.write(`grantor: ${describeFailure(cause)}\n`)
    return cause instanceof UsageError ? 2 : 1
  }
}

/** The whole command line; nothing runs until it is asked to parse words. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('grantor')
    .description('Grantor: a self-hosted OAuth 2.0 authorization server.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .showHelpAfterError('Add --help to see what there is.')
    .addHelpText(
      'after',
      '\nEvery setting, with its default: grantor serve --help\nAt a running server elsewhere: --server <url>, with the token of "grantor admin create" in GRANTOR_ADMIN_TOKEN',
    )
  addServe(program, terminal)
  addMigrate(program, terminal)
  for (const [noun, description, verbs] of NOUNS) {
    const parent = program.command(noun).description(description)
    for (const addVerb of verbs) addVerb(parent, terminal)
  }
  addDoctor(program, terminal)
  return program
}
