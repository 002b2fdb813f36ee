import { Command, CommanderError } from 'commander'
import { VERSION } from '../build.ts'
import { addApiCreate } from './api-create.ts'
import { addApiCredentials } from './api-credentials.ts'
import { addApiDelete } from './api-delete.ts'
import { addApiList } from './api-list.ts'
import { addClientDelete } from './client-delete.ts'
import { addClientDisable } from './client-disable.ts'
import { addClientEnable } from './client-enable.ts'
import { addClientList } from './client-list.ts'
import { addClientShow } from './client-show.ts'
import { addClientUnverify } from './client-unverify.ts'
import { addClientVerify } from './client-verify.ts'
import { addDoctor } from './doctor.ts'
import { describeFailure, UsageError } from './failure.ts'
import { addKeysList } from './keys-list.ts'
import { addKeysRetire } from './keys-retire.ts'
import { addKeysRotate } from './keys-rotate.ts'
import { addMigrate } from './migrate.ts'
import { addPerformAuthorizationCode } from './perform-authorization-code.ts'
import { addServe } from './serve.ts'
import type { Terminal } from './terminal.ts'
import { addUserCreate } from './user-create.ts'
import { addUserDisable } from './user-disable.ts'
import { addUserEnable } from './user-enable.ts'
import { addUserList } from './user-list.ts'
import { addUserSetPassword } from './user-set-password.ts'

type AddVerb = (parent: Command, terminal: Terminal) => void

/** The verbs that stand below a noun. */
const NOUNS: readonly (readonly [noun: string, description: string, verbs: readonly AddVerb[]])[] = [
  [
    'user',
    'Accounts that people sign in with.',
    [addUserCreate, addUserList, addUserSetPassword, addUserDisable, addUserEnable],
  ],
  [
    'client',
    'Registered OAuth clients.',
    [
      addClientList,
      addClientShow,
      addClientVerify,
      addClientUnverify,
      addClientDisable,
      addClientEnable,
      addClientDelete,
    ],
  ],
  [
    'api',
    'APIs that tokens are issued for, and their scopes.',
    [addApiCreate, addApiCredentials, addApiList, addApiDelete],
  ],
  ['keys', 'Keys that sign access tokens.', [addKeysList, addKeysRotate, addKeysRetire]],
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

function createProgram(terminal: Terminal): Command {
  const program = new Command('grantor')
    .description('Grantor: a self-hosted OAuth 2.0 authorization server.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .showHelpAfterError('Add --help to see what there is.')
    .addHelpText('after', '\nEvery setting, with its default: grantor serve --help')
  addServe(program, terminal)
  addMigrate(program, terminal)
  for (const [noun, description, verbs] of NOUNS) {
    const parent = program.command(noun).description(description)
    for (const addVerb of verbs) addVerb(parent, terminal)
  }
  addDoctor(program, terminal)
  return program
}
