import type { Command } from 'commander'
import { readConfig } from '../../../config/config.ts'
import { locationOf } from '../../../config/database-url.ts'
import type { RestoreAnswer } from '../../../maintenance/answer-restore.ts'
import type { Restored } from '../../../maintenance/restore.ts'
import { formatTime } from '../../lib/columns.ts'
import { UsageError } from '../../lib/failure.ts'
import { withJson } from '../../lib/options.ts'
import { requireStore } from '../../lib/runtime.ts'
import type { Terminal } from '../../lib/terminal.ts'
import { forShell } from '../../../base/shell.ts'

interface RestoreOptions {
  readonly from?: string
  readonly inPlace?: true
  readonly nothingLost?: true
  readonly replace?: true
  readonly json?: true
}

/** What the backup cannot know, because it happened later. The operator has to repeat it. */
const UNKNOWN: readonly string[] = [
  'Users, clients, organizations, memberships and installations that were disabled or deleted are active again.',
  'Passwords, client secrets, registration access tokens and API credentials that were replaced are valid again, and their replacements are not.',
  'Consents that were withdrawn, and scopes that are no longer approved, are in effect again.',
  'Users, clients, memberships and APIs that were added do not exist. Such clients register again.',
]

const LOGGED = ['Otherwise the log of the servers has a line with "actor" for each change of an administrator.']

/** The next step when the place has a newer root secret than the backup. */
const ROTATE: readonly string[] = [
  'The restored database is under the previous root secret. Leave both secrets as they are configured now, and run:',
  '  grantor secret rotate',
]

/** `grantor restore` */
export function addRestore(parent: Command, terminal: Terminal): void {
  withJson(parent.command('restore'))
    .description(
      'Restore a backup into the empty database of DATABASE_URL, or answer for one that was restored by other means. What was issued becomes invalid, unless nothing was lost.',
    )
    .option('--from <file>', 'the backup')
    .option('--replace', 'move the existing SQLite database aside')
    .option('--in-place', 'the database was restored by other means: invalidate what could be valid again by that')
    .option('--nothing-lost', 'the database was not restored, or lost nothing: serve it as it is')
    .action(async ({ from, replace, json, inPlace, nothingLost }: RestoreOptions) => {
      if ([from, inPlace, nothingLost].filter((given) => given !== undefined).length !== 1)
        throw new UsageError('Give one of --from <file>, --in-place and --nothing-lost.')
      const config = readConfig()
      if (from === undefined) {
        if (replace === true) throw new UsageError('--replace belongs to --from.')
        await requireStore(config, 'refuse')
        const { answerForStore } = await import('../../../maintenance/answer-restore.ts')
        const answered = await answerForStore(config, inPlace === true ? 'went-back' : 'nothing-lost')
        return json === true ? terminal.printJson(describeAnswer(answered)) : terminal.print(answerLines(answered))
      }
      if (replace === true && config.database.kind === 'postgres') {
        throw new UsageError(
          `--replace is for a SQLite file. ${locationOf(config.database)} is not replaced: create an empty database, and name it in DATABASE_URL.`,
        )
      }
      // The other commands do not need what a restore loads.
      const { restore } = await import('../../../maintenance/restore.ts')
      printRestored(terminal, await restore(config, { from, replace: replace === true, isMove: false }), json === true)
    })
}

/** Prints what a restore did, and what the operator has to repeat. */
export function printRestored(terminal: Terminal, restored: Restored, isJson: boolean): void {
  if (isJson) terminal.printJson(describe(restored))
  else terminal.print(linesOf(restored))
}

function describe({ location, madeAt, rows, replaced, isUnderPreviousSecret, adminToken }: Restored) {
  return {
    database: location,
    made_at: madeAt,
    rows,
    previous_database: replaced ?? null,
    is_under_previous_secret: isUnderPreviousSecret,
    admin_token: adminToken,
    to_repeat: UNKNOWN,
  }
}

function describeAnswer({ location, adminToken }: RestoreAnswer) {
  const ended = adminToken === undefined ? {} : { admin_token: adminToken, to_repeat: UNKNOWN }
  return { database: location, nothing_lost: adminToken === undefined, ...ended }
}

function answerLines({ location, adminToken }: RestoreAnswer): readonly string[] {
  if (adminToken === undefined) return [`Servers use ${location} as it is.`]
  return [
    `Everything that could be valid again in ${location} is now invalid. Servers that waited for this serve again within two seconds.`,
    '',
    ...invalid(adminToken),
    '',
    'Repeat what happened after the time to which the database was restored. If the lost database can be read, this lists it with its',
    'DATABASE_URL and secret:',
    '  grantor audit list --since <time>',
    ...LOGGED,
    ...UNKNOWN.map((line) => `  ${line}`),
  ]
}

function invalid(adminToken: string | undefined): readonly string[] {
  return [
    'Invalid from now on: all access and refresh tokens, grants, sessions and signing keys, and the credentials of all',
    'administrators. Users sign in again, and APIs fetch the new keys.',
    `The token of a new administrator, which is shown only now: ${adminToken}`,
  ]
}

function linesOf({ location, madeAt, replaced, isUnderPreviousSecret, adminToken }: Restored): readonly string[] {
  const time = `${formatTime(madeAt)} UTC`
  return [
    `Restored ${location} to its state of ${time}.`,
    ...(replaced === undefined ? [] : [`The previous database is ${replaced}.`]),
    '',
    ...invalid(adminToken),
    ...(isUnderPreviousSecret ? ['', ...ROTATE] : []),
    '',
    `Repeat what happened after ${time}. If the lost database can be read, this lists it with its DATABASE_URL and secret:`,
    `  grantor audit list --since ${forShell(madeAt)}`,
    ...LOGGED,
    ...UNKNOWN.map((line) => `  ${line}`),
  ]
}
