import { Command, CommanderError } from 'commander'
import { VERSION } from '../server/version.ts'
import { addApply } from './commands/apply.ts'
import { addBackup } from './commands/store/backup.ts'
import { addDoctor } from './commands/doctor.ts'
import { describeFailure, UsageError } from './lib/failure.ts'
import { addHealth } from './commands/health.ts'
import { addMigrate } from './commands/store/migrate.ts'
import { addExport } from './commands/store/move.ts'
import { addRestore } from './commands/store/restore.ts'
import { addServe } from './commands/serve.ts'
import { replaceCommand } from './lib/own-command.ts'
import type { Terminal } from './lib/terminal.ts'
import type { AddVerb } from './lib/task-verb.ts'

type Noun = readonly [noun: string, description: string, loadVerbs: () => Promise<readonly AddVerb[]>]

/** The nouns with their verbs. The verbs of a noun are loaded only when the command line names it, because `serve` needs none. */
export const NOUNS: readonly Noun[] = [
  [
    'server',
    'The version of the server, and what needs attention.',
    async () => (await import('./commands/server.ts')).SERVER_VERBS,
  ],
  ['user', 'Users who sign in.', async () => (await import('./commands/user.ts')).USER_VERBS],
  [
    'provider',
    'Providers at which users sign in: Google, Microsoft Entra, Okta, GitHub, Keycloak and others.',
    async () => (await import('./commands/provider.ts')).PROVIDER_VERBS,
  ],
  [
    'client',
    'OAuth clients: those that registered, and those that you create.',
    async () => (await import('./commands/client.ts')).CLIENT_VERBS,
  ],
  [
    'initial-token',
    'Initial access tokens, with which clients register.',
    async () => (await import('./commands/initial-token.ts')).INITIAL_TOKEN_VERBS,
  ],
  [
    'domain',
    'Domains of clients that are trusted or blocked.',
    async () => (await import('./commands/domain.ts')).DOMAIN_VERBS,
  ],
  [
    'org',
    'Organizations, their members, and the clients that are installed for them.',
    async () => (await import('./commands/org.ts')).ORG_VERBS,
  ],
  ['group', 'Groups of users.', async () => (await import('./commands/group.ts')).GROUP_VERBS],
  [
    'access-rule',
    'Access rules: what some people do not get from clients.',
    async () => (await import('./commands/access/access-rule.ts')).ACCESS_RULE_VERBS,
  ],
  [
    'access',
    'What clients can get for users, and why not more.',
    async () => (await import('./commands/access/access.ts')).ACCESS_VERBS,
  ],
  [
    'api',
    'APIs for which tokens are issued, and their scopes.',
    async () => (await import('./commands/api.ts')).API_VERBS,
  ],
  [
    'grant',
    'Grants: what users have authorized clients to do.',
    async () => (await import('./commands/grant.ts')).GRANT_VERBS,
  ],
  [
    'session',
    'Browsers in which users are signed in.',
    async () => (await import('./commands/session.ts')).SESSION_VERBS,
  ],
  ['token', 'Access and refresh tokens.', async () => (await import('./commands/token.ts')).TOKEN_VERBS],
  [
    'admin',
    'Credentials of administrators, for --server and the admin HTTP API.',
    async () => (await import('./commands/admin.ts')).ADMIN_VERBS,
  ],
  ['role', 'What users may do by the console.', async () => (await import('./commands/role.ts')).ROLE_VERBS],
  [
    'delegate',
    'The application that signs users in instead of this server.',
    async () => (await import('./commands/admin.ts')).DELEGATE_VERBS,
  ],
  ['key', 'Keys that sign access tokens and ID tokens.', async () => (await import('./commands/key.ts')).KEY_VERBS],
  [
    'secret',
    'The root secret, which protects all keys.',
    async () => (await import('./commands/secret.ts')).SECRET_VERBS,
  ],
  ['mail', 'Test the mail server.', async () => (await import('./commands/mail.ts')).MAIL_VERBS],
  ['clock', 'Confirm the clock of a server on SQLite.', async () => (await import('./commands/clock.ts')).CLOCK_VERBS],
  ['issuer', 'The public address of the server.', async () => (await import('./commands/issuer.ts')).ISSUER_VERBS],
  [
    'import',
    'Import a store from another place, or users and clients of another system.',
    async () => [
      ...(await import('./commands/store/move.ts')).IMPORT_VERBS,
      ...(await import('./commands/store/import.ts')).SOURCE_VERBS,
    ],
  ],
  [
    'database',
    'Distribute a database over several machines, or reopen one that was closed.',
    async () => (await import('./commands/store/database.ts')).DATABASE_VERBS,
  ],
  ['audit', 'The audit log.', async () => (await import('./commands/audit.ts')).AUDIT_VERBS],
  [
    'perform',
    'Run a flow against a running server, as a client does.',
    async () => (await import('./commands/perform.ts')).PERFORM_VERBS,
  ],
]

/** Runs one command line. Returns the exit code: 0, 1 after a failure, 2 after a usage error. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = await createProgram(terminal, (noun) => words.includes(noun))
    await program.parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (cause) {
    // Commander has printed the error or the help.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2
    terminal.complain(`grantor: ${describeFailure(cause)}\n`)
    return cause instanceof UsageError ? 2 : 1
  }
}

/** The command line, with the verbs of the nouns that `isAskedFor` accepts. Parsing arguments runs a command. */
export async function createProgram(terminal: Terminal, isAskedFor: (noun: string) => boolean): Promise<Command> {
  const program = new Command('grantor')
    .description('Grantor: a self-hosted OAuth 2.0 authorization server.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(replaceCommand(text, terminal.command)),
      writeErr: terminal.complain,
    })
    .showHelpAfterError('Add --help for the available commands and options.')
    .addHelpText(
      'after',
      '\nEvery setting, with its default: grantor serve --help\nCommands use the configured database. For a server on another machine: --server <url>, with the token of "grantor admin create" in GRANTOR_ADMIN_TOKEN',
    )
  addServe(program, terminal)
  addMigrate(program, terminal)
  for (const [noun, description, loadVerbs] of NOUNS) {
    const parent = program.command(noun).description(description)
    if (isAskedFor(noun)) for (const addVerb of await loadVerbs()) addVerb(parent, terminal)
  }
  addApply(program, terminal)
  addDoctor(program, terminal)
  addHealth(program, terminal)
  addBackup(program, terminal)
  addRestore(program, terminal)
  addExport(program, terminal)
  return program
}
