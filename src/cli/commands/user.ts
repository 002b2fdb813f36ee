import type { UserDocument } from '../../admin/users.ts'
import { readPassword } from '../lib/ask-password.ts'
import { formatTime, record } from '../lib/columns.ts'
import { USER } from '../lib/subjects.ts'
import { listVerb, sentenceVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface CreateOptions {
  readonly email: string
  readonly password?: string
  readonly name?: string
}

/** The verbs of `grantor user`. */
export const USER_VERBS: readonly AddVerb[] = [
  taskVerb<UserDocument, CreateOptions>({
    verb: 'create',
    task: 'user.create',
    whenMissing: 'create',
    options: (command) =>
      command
        .requiredOption('--email <address>', 'the address that the user signs in with')
        .option(
          '--password <password>',
          'the password; - reads it from standard input; without the option the terminal asks for it',
        )
        .option('--name <name>', 'the name of the user, as the pages show it'),
    input: async ({ email, password, name }, terminal) => ({
      email,
      name,
      password: await readPassword(terminal, password),
    }),
    say: (user) => [`Created ${user.email} (${user.user_id}).`],
  }),
  listVerb<UserDocument>({
    task: 'user.list',
    rows: 'users',
    headings: ['EMAIL', 'NAME', 'CREATED (UTC)', 'STATE', 'ID'],
    cells: ({ email, name, created_at, disabled_at, user_id }) => [
      [email, name ?? '–', formatTime(created_at), disabled_at === null ? 'active' : 'disabled', user_id],
    ],
    empty: 'There are no users. Create one: grantor user create --email <address>',
  }),
  taskVerb<UserDocument>({
    verb: 'show',
    task: 'user.show',
    subjects: [USER],
    say: (user, { paint }) => record(user, paint),
  }),
  taskVerb<UserDocument, { readonly password?: string }>({
    verb: 'set-password',
    task: 'user.set-password',
    subjects: [USER],
    options: (command) =>
      command.option(
        '--password <password>',
        'the password; - reads it from standard input; without the option the terminal asks for it',
      ),
    input: async ({ password }, terminal) => ({ password: await readPassword(terminal, password) }),
    say: ({ email }) => [`${email} has a new password. All sessions and grants of the user are revoked.`],
  }),
  sentenceVerb<UserDocument>(
    'disable',
    'user.disable',
    [USER],
    ({ email }) => `${email} is disabled. To undo this: grantor user enable ${email}`,
  ),
  sentenceVerb<UserDocument>(
    'enable',
    'user.enable',
    [USER],
    ({ email }) => `${email} is enabled and may sign in again.`,
  ),
  sentenceVerb<UserDocument>(
    'revoke-tokens',
    'user.revoke-tokens',
    [USER],
    ({ email }) => `All sessions and tokens of ${email} are revoked.`,
  ),
  sentenceVerb<{ readonly email: string }>(
    'delete',
    'user.delete',
    [USER],
    ({ email }) => `Deleted ${email}, with all sessions, memberships and consents. Tokens of the user no longer work.`,
  ),
]
