import type { Command } from 'commander'
import type { LinkDocument, SentLinkDocument } from '../../admin/user/link.ts'
import type { PasskeyDocument } from '../../admin/user/sign-in.ts'
import type { ListedUserDocument } from '../../admin/user/listed.ts'
import type { UserDocument } from '../../admin/user/tasks.ts'
import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import { EVENT_ROWS } from './audit.ts'
import { PROFILE_TEXTS, PROFILE_URLS } from '../../protocol/openid/user-claims.ts'
import { readPassword } from '../lib/ask-password.ts'
import { columns, formatTime } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { collect, excludeEachOther } from '../lib/options.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

interface CreateOptions {
  /** false: the user gets no password. */
  readonly password?: string | false
  readonly set?: readonly string[]
}

interface UpdateOptions {
  readonly set?: readonly string[]
  readonly unset?: readonly string[]
}

type Profile = Readonly<Record<string, unknown>>

/** How a command names a user. An address of a stranger that begins as an option would name another user: `--email=ada@acme.test`. */
function givenAs({ email, user_id: id }: Pick<UserDocument, 'email' | 'user_id'>): string {
  return email === null || email.startsWith('-') ? id : email
}

/** `name` and `email` have options of their own. */
const CLAIMS: readonly string[] = [...PROFILE_TEXTS, 'phone_number_verified', ...PROFILE_URLS]

/** Adds `claim=value` to a profile. */
function withClaim(profile: Profile, text: string): Profile {
  const mark = text.indexOf('=')
  const [claim, value] = [text.slice(0, mark), text.slice(mark + 1)]
  if (mark < 1) throw new UsageError(`"${text}" is not a claim with its value, such as given_name=Ada.`)
  if (value === '' || value === 'null')
    throw new UsageError(
      `"${text}" gives the claim no value. To remove it: grantor user update <email> --unset ${forShell(claim)}`,
    )
  const part = /^address\.(.+)$/.exec(claim)?.[1]
  if (part !== undefined)
    return { ...profile, address: { ...(profile['address'] as object | undefined), [part]: value } }
  if (!CLAIMS.includes(claim))
    throw new UsageError(`"${claim}" is not a claim of the profile. There are: ${CLAIMS.join(', ')}, address.<part>.`)
  return { ...profile, [claim]: claim.endsWith('_verified') ? value === 'true' : value }
}

function withPassword(command: Command): Command {
  return command.option(
    '--password <password>',
    'the password; - reads it from standard input; without the option the terminal asks for it',
  )
}

/** The link that a task has created, and what the user does with it. */
export function linkLines(made: LinkDocument): readonly string[] {
  const { email, link, expires_at } = made
  return [
    link,
    '',
    `Hand this link to ${email}: it works once, until ${formatTime(expires_at)} UTC.`,
    ...effectLines(made),
  ]
}

/** What a link does when the user opens it. */
function effectLines({ purpose, methods }: SentLinkDocument): readonly string[] {
  return [
    `With it the user ${choices(methods)}.`,
    ...(purpose === 'reset' ? ['Using it ends all sessions and grants of the user.'] : []),
  ]
}

/** What a user does with a link, by the methods that its page offers. */
function choices(methods: readonly string[]): string {
  const providers = methods.filter((method) => method !== 'password' && method !== 'passkey')
  return [
    ...(methods.includes('password') ? ['sets a password'] : []),
    ...(methods.includes('passkey') ? ['adds a passkey'] : []),
    ...(providers.length === 0 ? [] : [`signs in at ${providers.join(' or ')}`]),
  ].join(', or ')
}

/** The verbs of `grantor user`. */
export const USER_VERBS: readonly AddVerb[] = verbsOf(
  ['user'],
  [
    taskVerb<UserDocument, CreateOptions>({
      task: 'user.create',
      members: { email_verified: 'verified', password: false, profile: false },
      options: (command) =>
        excludeEachOther(
          withPassword(command)
            .option('--no-password', 'the user gets no password')
            .option('--set <claim=value>', 'a claim of the profile, as in "user update"; repeatable', collect),
          ['password', 'no-password'],
        ),
      input: async ({ password, set = [] }, terminal) => ({
        profile: set.length === 0 ? undefined : set.reduce(withClaim, {}),
        password: password === false ? undefined : await readPassword(terminal, password),
      }),
    }),
    listVerb<AuditEntryDocument>({ ...EVENT_ROWS, task: 'user.list-events' }),
    listVerb<ListedUserDocument>({
      task: 'user.list',
      rows: 'users',
      headings: ['EMAIL', 'NAME', 'STATE', 'LAST SIGN-IN (UTC)', 'CREATED (UTC)', 'ID'],
      cells: ({ email, name, state, last_signed_in_at: last, created_at, user_id }) => [
        [email ?? '–', name ?? '–', state, last === null ? 'never' : formatTime(last), formatTime(created_at), user_id],
      ],
      empty: 'There are no users, or none that match. Create one: grantor user create --email <address>',
    }),
    taskVerb<UserDocument, { readonly password?: string }>({
      task: 'user.set-password',
      members: { password: false },
      options: withPassword,
      input: async ({ password }, terminal) => ({ password: await readPassword(terminal, password) }),
    }),
    taskVerb<UserDocument>({
      task: 'user.set-email',
      members: { email: 'to' },
    }),
    taskVerb<UserDocument, UpdateOptions>({
      task: 'user.update',
      members: { profile: false },
      options: (command) =>
        command
          .option(
            '--set <claim=value>',
            'a claim of the profile: given_name=Ada, or a part of the address, address.country=DE; repeatable. A given part replaces the whole address',
            collect,
          )
          .option('--unset <claim>', 'remove a claim of the profile; repeatable', collect),
      input({ set = [], unset = [] }) {
        if (set.length + unset.length === 0) return {}
        return { profile: set.reduce(withClaim, Object.fromEntries(unset.map((claim) => [claim, null]))) }
      },
    }),
    taskVerb<LinkDocument>({
      task: 'user.create-link',
      members: { client_id: 'client' },
      say: linkLines,
    }),
    taskVerb<SentLinkDocument>({
      task: 'user.send-link',
      within: 'member.send-link',
      members: { client_id: 'client' },
      adds: effectLines,
    }),
    taskVerb<{ readonly passkeys: readonly PasskeyDocument[] }>({
      task: 'user.list-passkeys',
      say({ passkeys }, { paint }) {
        if (passkeys.length === 0) return ['The user has no passkeys.']
        const cells = passkeys.map(({ passkey_id, browser, system, is_synced, added_at, used_at }) => [
          browser ?? '–',
          system ?? '–',
          is_synced ? 'yes' : 'no',
          formatTime(added_at),
          used_at === null ? 'never' : formatTime(used_at),
          passkey_id,
        ])
        return columns(['BROWSER', 'SYSTEM', 'SYNCED', 'ADDED (UTC)', 'USED (UTC)', 'ID'], cells, paint)
      },
    }),
    taskVerb<UserDocument>({
      task: 'user.remove-passkey',
      adds: (user) => [`If the user has no other way to sign in: grantor user create-link ${forShell(givenAs(user))}`],
    }),
  ],
)
