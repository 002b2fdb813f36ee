import * as z from 'zod'
import { CONSOLE_CLIENT_ID } from '../protocol/client/console.ts'
import type { RoleInspection } from '../ports/inspection.ts'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import { COPIES_RULES } from '../protocol/client/policy.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { checkOwnApis } from '../checks/issuer.ts'
import { checkMail } from '../checks/mail.ts'
import { checkFailures } from '../checks/providers.ts'
import { checkRoles } from '../checks/roles.ts'
import { checkBackup } from '../checks/store.ts'
import { failed, ok, warning, type Finding } from '../checks/finding.ts'
import { ISO, iso } from '../base/iso.ts'
import { PAGE_LIMIT } from './page.ts'
import { failingProviders } from './provider/failing.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'
import { hasSecondFactor } from './user/role-holder.ts'
import { forShell } from '../base/shell.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Credentials that expire sooner are named. */
const SOON_MS = 14 * DAY_MS
/** More of them are one finding, so that they hide no other. */
const EACH_NAMED = 3
/** Roles that are looked at. */
const ROLES = 100

const SERVER_DOCUMENT = z
  .object({
    version: z.string(),
    issuer: z.string(),
    access_token_lifetime: z.int().describe('Seconds that an access token is valid, unless its API says otherwise.'),
    refresh_copies: z
      .enum(COPIES_RULES)
      .describe('What an earlier refresh token of a public client gets, unless a rule of the client says otherwise.'),
    time: ISO.describe('The time by the clock that decides.'),
    apis: z.int().describe('How many APIs are declared.'),
    sends_mail: z.boolean(),
    signing_algorithm: z.string().describe('What signs the tokens of APIs that choose no algorithm.'),
    findings: z
      .array(
        z.object({
          check: z.string(),
          verdict: z.enum(['ok', 'warning', 'failed']),
          message: z.string(),
          remedy: z.string().nullable(),
          screen: z
            .object({ path: z.string(), label: z.string() })
            .nullable()
            .describe('Where a person at the console mends it.'),
        }),
      )
      .describe(
        'What a running server sees of "grantor doctor", which also looks at the database, the secret and the network.',
      ),
  })
  .meta({ id: 'Server' })

export type ServerDocument = z.output<typeof SERVER_DOCUMENT>

export const SERVER_TASKS: readonly Task[] = [
  defineTask({
    name: 'server.show',
    method: 'GET',
    path: '/admin/v1/server',
    access: 'read',
    summary: 'Show the version of the server, and what needs attention.',
    input: z.object({}),
    output: SERVER_DOCUMENT,
    async run(context) {
      const { clock, issuer, mail, settings, version } = context
      const [apis, findings] = await Promise.all([context.apis(), examine(context)])
      return {
        version,
        issuer,
        access_token_lifetime: settings.lifetimes.accessToken,
        refresh_copies: settings.refreshCopies,
        time: iso(clock()),
        apis: apis.length,
        sends_mail: mail !== undefined,
        signing_algorithm: settings.signingAlgorithm,
        findings: findings.map(({ check, verdict, message, remedy = null, screen = null }) => ({
          check,
          verdict,
          message,
          remedy,
          screen,
        })),
      }
    },
  }),
]

async function examine(context: TaskContext): Promise<readonly Finding[]> {
  const { clock, clockCheck, settings, store } = context
  const now = clock()
  const [backedUpAt, credentials, roles, providers, ofConsole, [due]] = await Promise.all([
    store.findLastBackup(),
    store.listAdminCredentials({ before: undefined, limit: PAGE_LIMIT.most }),
    inspectRoles(context),
    store.listProviders(),
    store.findClient(CONSOLE_CLIENT_ID),
    store.listDueMails({ now, limit: 1 }),
  ])
  return [
    checkClock(clockCheck.differenceMs()),
    ...(await failingProviders(context, providers)).map(checkFailures),
    ...checkBackup({ choices: settings, now }, { backedUpAt }),
    ...checkCredentials(credentials, now),
    ...checkRoles(settings, { roles, providers, consoleDisabledAt: ofConsole?.disabledAt }),
    ...checkMail(undefined, due?.dueAt, now),
    ...checkOwnApis(
      context,
      (await context.apis()).map(({ resource }) => resource),
    ),
  ]
}

function checkClock(aheadMs: number): Finding {
  if (aheadMs === 0) return ok('clock', 'The clock of this node agrees.')
  return failed(
    'clock',
    `The clock of this node is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}, so the node issues nothing.`,
    'Set the clock, best by NTP. If it is right now: grantor clock confirm',
    { path: '/console/server?ask=clock.confirm', label: 'Confirm the clock…' },
  )
}

function checkCredentials(all: readonly AdminCredentialRecord[], now: EpochMs): readonly Finding[] {
  const live = all.filter(({ revokedAt, expiresAt }) => revokedAt === undefined && expiresAt > now)
  const ending = live.filter(({ expiresAt }) => expiresAt < after(now, SOON_MS))
  if (ending.length === 0) return [ok('credentials', 'No credentials of an administrator expire within two weeks.')]
  const [first] = ending.toSorted((one, other) => one.expiresAt - other.expiresAt)
  if (first !== undefined && ending.length > EACH_NAMED)
    return [
      warning(
        'credentials',
        `${ending.length} credentials expire within two weeks, the first of them, "${first.name}", ${dayAndTime(first.expiresAt, now)}.`,
        'Create others, and revoke those that no program needs. See them: grantor admin list',
        { path: '/console/credentials', label: 'See the credentials' },
      ),
    ]
  return ending.map(({ id, name, access, expiresAt }) =>
    warning(
      'credentials',
      `The credentials "${name}" expire ${dayAndTime(expiresAt, now)}.`,
      `Create others, and then: grantor admin revoke ${forShell(id)}`,
      {
        path: `/console/credentials?ask=${access === 'delegate' ? 'delegate.create-credentials' : 'admin.create'}`,
        label: 'Replace…',
      },
    ),
  )
}

/** When something ends that ends soon: the days are those of the calendar in UTC, so that nothing ends "in 0 days". */
function dayAndTime(at: EpochMs, now: EpochMs): string {
  const days = Math.floor(at / DAY_MS) - Math.floor(now / DAY_MS)
  const [day, time] = [iso(at).slice(0, 10), `${iso(at).slice(11, 16)} UTC`]
  if (days === 0) return `today at ${time}`
  return days === 1 ? `tomorrow at ${time}` : `in ${days} days, on ${day} at ${time}`
}

async function inspectRoles(context: TaskContext): Promise<readonly RoleInspection[]> {
  const roles = await context.store.listRoles({ before: undefined, limit: ROLES })
  return Promise.all(
    roles.map(async ({ userId, access, isLoopbackOnly }) => ({
      user: (await context.store.findUser(userId))?.email ?? userId,
      access,
      isLoopbackOnly,
      hasSecondFactor: await hasSecondFactor(context, userId),
    })),
  )
}
