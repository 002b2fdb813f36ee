import type { UserDocument } from '../../admin/users.ts'
import { readPassword } from '../lib/ask-password.ts'
import { formatTime } from '../lib/columns.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface CreateOptions {
  readonly email: string
  readonly password?: string
  readonly name?: string
}

/** The verbs of `grantor user`. */
export const USER_VERBS: readonly AddVerb[] = [
  taskVerb<UserDocument, CreateOptions>({
    task: 'user.create',
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
    say: (user) => `Created ${user.email} (${user.user_id}).`,
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
  taskVerb({ task: 'user.show' }),
  taskVerb<UserDocument, { readonly password?: string }>({
    task: 'user.set-password',
    options: (command) =>
      command.option(
        '--password <password>',
        'the password; - reads it from standard input; without the option the terminal asks for it',
      ),
    input: async ({ password }, terminal) => ({ password: await readPassword(terminal, password) }),
    say: ({ email }) => `${email} has a new password. All sessions and grants of the user are revoked.`,
  }),
  taskVerb<UserDocument>({
    task: 'user.disable',
    say: ({ email }) => `${email} is disabled. To undo this: grantor user enable ${email}`,
  }),
  taskVerb<UserDocument>({
    task: 'user.enable',
    say: ({ email }) => `${email} is enabled and may sign in again.`,
  }),
  taskVerb<UserDocument>({
    task: 'user.revoke-tokens',
    say: ({ email }) => `All sessions and tokens of ${email} are revoked.`,
  }),
  taskVerb<{ readonly email: string }>({
    task: 'user.delete',
    say: ({ email }) =>
      `Deleted ${email}, with all sessions, memberships and consents. Tokens of the user no longer work.`,
  }),
]
