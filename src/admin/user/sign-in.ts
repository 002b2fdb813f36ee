import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import { isHolder } from '../../ports/operations/reach.ts'
import type { HitCount } from '../../ports/operations/server.ts'
import type { AccountRecord } from '../../ports/records/account.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { SecondFactorRecord } from '../../ports/records/second-factor.ts'
import type { LinkRecord, UserRecord } from '../../ports/records/user.ts'
import type { EpochMs } from '../../base/brand.ts'
import { firstSignInOf } from '../../protocol/sign-in/account.ts'
import { APPLICATION } from '../../protocol/sign-in/authentication.ts'
import { GUESS_LIMIT } from '../../protocol/sign-in/totp.ts'
import { ACCOUNT_LIMIT, ATTEMPT_WINDOW_MS, CODE_LIMIT } from '../../protocol/sign-in/attempt-limits.ts'
import { accountBucket, codeBucket } from '../../requests/attempt-bucket.ts'
import { factorNeedOf, factorsOf, hasFactor } from '../../users/factors.ts'
import { findLinkMethods, hasLinkMethod } from '../../users/link-methods.ts'
import {
  findRequiredProvider,
  isUsable,
  mayHavePasskeys,
  mayHavePassword,
  providersFor,
} from '../../users/provider-routing.ts'
import { PASSKEY } from '../../answers/passkey.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'

/** A passkey in an answer, without its key. */
export const PASSKEY_DOCUMENT = z.object(PASSKEY.shape).meta({ id: 'Passkey' })

export type PasskeyDocument = z.output<typeof PASSKEY_DOCUMENT>

/** The authenticator app of a user. */
export const APP_DOCUMENT = z.object({
  added_at: ISO,
  used_at: ISO_OR_NULL.describe('null: no sign-in has used it.'),
  recovery_codes: z.int().describe('How many recovery codes are left.'),
  is_locked: z.boolean().describe('Whether codes of unknown browsers are refused, after 100 wrong ones.'),
})

/** The states of an account, the worst one first. */
const USER_STATES = ['disabled', 'no-way', 'locked', 'invited', 'never-signed-in', 'active'] as const

/** The state of an account in a word. */
export const STATE_DOCUMENT = z.object({
  state: z
    .enum(USER_STATES)
    .describe(
      'The worst of: disabled; no-way (the account has nothing to sign in with, and no link is open); locked (wrong passwords or codes keep browsers out that the account does not know); invited (an invitation is open); never-signed-in; active.',
    ),
  state_until: ISO_OR_NULL.describe('When a lock or an invitation ends; null: not by itself.'),
})

/** How an account can sign in by now, and what prevents it. */
export const SIGN_IN_DOCUMENT = z.object({
  ways: z
    .array(z.string())
    .describe(
      `What the account can sign in with now: "password", "passkey", "${APPLICATION}" for your application, or the id of a provider. Empty: it cannot sign in.`,
    ),
  second_step: z
    .array(z.string())
    .nullable()
    .describe(
      'With what the account confirms a sign-in of one factor: "app", "passkey", or the id of a provider with multi_factor. "set-up": it has none, and sets one up. Empty: what it has does not work now. null: no second step follows.',
    ),
  obstacles: z
    .array(
      z.object({
        reason: z.enum([
          'disabled',
          'no-way',
          'not-connected',
          'second-factor-unusable',
          'provider-required',
          'provider-disabled',
          'too-many-passwords',
          'too-many-codes',
          'codes-locked',
        ]),
        message: z.string(),
        provider: z.string().nullable().describe('The name of the provider that the obstacle is about; null: of none.'),
        wrong_attempts: z
          .int()
          .nullable()
          .describe('How many wrong passwords or codes locked it; null: it is no lock.'),
        until: ISO_OR_NULL.describe('When a lock ends; null: not by itself.'),
      }),
    )
    .describe('What prevents sign-ins, or some of them, each with a sentence. Empty: nothing.'),
})

type SignInDocument = z.output<typeof SIGN_IN_DOCUMENT>
type Obstacle = SignInDocument['obstacles'][number]

/** A user, and all that the account has. */
export interface Account extends AccountRecord {
  readonly user: UserRecord
}

/** What is read once for all accounts of a page. */
export interface SignInFacts {
  readonly providers: readonly ProviderRecord[]
  /** The attempts with passwords and codes, by bucket. */
  readonly hits: ReadonlyMap<string, HitCount>
}

/** Reads what else says how accounts can sign in. */
export async function findSignInFacts(context: Context, accounts: readonly Account[]): Promise<SignInFacts> {
  const { clock, store } = context
  const buckets = accounts.flatMap((account) => bucketsOf(context, account))
  const [providers, hits] = await Promise.all([
    store.listProviders(),
    store.listHits({ buckets, now: clock(), windowMs: ATTEMPT_WINDOW_MS }),
  ])
  return { providers, hits }
}

/** Where the attempts of strangers are counted, of which a lock is made. */
function bucketsOf(context: Context, { user: { id, email }, app }: Account): readonly string[] {
  return [
    ...(email === undefined ? [] : [accountBucket(context, email)]),
    ...(app === undefined ? [] : [codeBucket(context, id)]),
  ]
}

/** Says how an account can sign in by now, so that a support colleague need not try it. */
export async function describeSignIn(context: Context, account: Account, facts: SignInFacts): Promise<SignInDocument> {
  const { providers } = facts
  const { ways, second, isStuck } = signInOf(context, account, facts)
  const obstacles = [
    ...(account.user.disabledAt === undefined ? [] : [obstacle('disabled', 'The account is disabled.')]),
    ...routingObstacles(account, providers),
    ...(ways.length > 0 ? [] : [await findLackObstacle(context, account, providers)]),
    ...(isStuck ? [obstacle('second-factor-unusable', UNUSABLE)] : []),
    ...locksOf(context, account, facts),
  ]
  // What is a second factor by itself does not work either then.
  const isPossible = account.user.disabledAt === undefined && !isStuck
  return { ways: isPossible ? [...ways] : [], second_step: second, obstacles }
}

/** The state of an account in a word: the worst one. `link`: the one that is open. */
export function stateOf(
  context: Context,
  account: Account,
  facts: SignInFacts & { readonly link: LinkRecord | undefined },
): z.output<typeof STATE_DOCUMENT> {
  const { user } = account
  const state = (one: (typeof USER_STATES)[number], until?: EpochMs) => ({ state: one, state_until: isoOrNull(until) })
  if (user.disabledAt !== undefined) return state('disabled')
  const { ways, isStuck } = signInOf(context, account, facts)
  const isWithout = isStuck || ways.length === 0
  if (isWithout && facts.link === undefined && findUnconnected(account, facts.providers) === undefined)
    return state('no-way')
  const locks = locksOf(context, account, facts)
  if (locks.length > 0) {
    const [latest] = locks
      .flatMap(({ until }) => (until === null ? [] : [until]))
      .toSorted()
      .toReversed()
    return { state: 'locked', state_until: latest ?? null }
  }
  if (firstSignInOf(user) !== undefined) return state('active')
  return facts.link?.purpose === 'invitation' ? state('invited', facts.link.expiresAt) : state('never-signed-in')
}

function signInOf(context: Context, account: Account, { providers }: SignInFacts) {
  const second = secondStepOf(context, account, providers)
  return { ways: waysOf(context, account, providers), second, isStuck: second?.length === 0 }
}

const UNUSABLE =
  'The account confirms with a second factor, and the one that it has does not work now. No other is set up meanwhile. A link that you hand over replaces it.'

/** What follows a sign-in with one factor, as the page of the second step has it. */
function secondStepOf(
  context: Context,
  account: Account,
  providers: readonly ProviderRecord[],
): SignInDocument['second_step'] {
  if (context.settings.delegate !== undefined) return null
  const { counting, usable } = factorsOf(context, account, providers)
  const need = factorNeedOf(context.settings, { ...account, isHolder: isHolder(account) })
  if (!hasFactor(counting)) return need === 'always' ? ['set-up'] : null
  if (need === 'never') return null
  const elsewhere = usable.app === undefined ? usable.identities.map(({ providerId }) => providerId) : []
  return [
    ...(usable.app === undefined ? [] : ['app']),
    ...(usable.passkeys.length > 0 ? ['passkey'] : []),
    ...new Set(elsewhere),
  ]
}

/** Why the account cannot sign in, and what gives it a way. */
async function findLackObstacle(
  context: Context,
  account: Account,
  providers: readonly ProviderRecord[],
): Promise<Obstacle> {
  const { user } = account
  const required = findUnconnected(account, providers)
  if (required !== undefined) {
    const { name } = required.settings
    const connects = isUsable(context.settings, required)
      ? `A link connects it, and so does the first sign-in there, if the rules of ${name} allow it.`
      : `It can be connected when ${name} is enabled.`
    return obstacle('not-connected', `The account is not connected to ${name} yet. ${connects}`, { provider: name })
  }
  const isLinkUseful =
    user.email !== undefined && hasLinkMethod(await findLinkMethods(context, user, { isMailed: false }))
  return obstacle(
    'no-way',
    `The account has nothing to sign in with now. ${isLinkUseful ? 'A link gives it a way.' : 'A link cannot give it a way either.'}`,
  )
}

/** The provider that the address requires, if the account is not connected to it yet. */
function findUnconnected(
  { user, identities }: Account,
  providers: readonly ProviderRecord[],
): ProviderRecord | undefined {
  const required = findRequiredProvider(providers, user.email)
  return identities.some(({ providerId }) => providerId === required?.id) ? undefined : required
}

function waysOf(
  context: Context,
  { user, identities, passkeys }: Account,
  providers: readonly ProviderRecord[],
): readonly string[] {
  const { settings } = context
  const { email, passwordHash } = user
  const isAt = (id: string): boolean => identities.some(({ providerId }) => providerId === id)
  if (settings.delegate !== undefined) return isAt(APPLICATION) ? [APPLICATION] : []
  const hasPassword = passwordHash !== undefined && email !== undefined && mayHavePassword(settings, providers, email)
  return [
    ...(hasPassword ? ['password'] : []),
    ...(passkeys.length > 0 && mayHavePasskeys(context, { user, providers }) ? ['passkey'] : []),
    ...providersFor(settings, providers, email).flatMap(({ id }) => (isAt(id) ? [id] : [])),
  ]
}

/** What providers and their rules for domains prevent. */
function routingObstacles({ user, identities }: Account, providers: readonly ProviderRecord[]): readonly Obstacle[] {
  const required = findRequiredProvider(providers, user.email)
  const disabled = providers.filter(
    ({ id, disabledAt }) =>
      disabledAt !== undefined &&
      (required === undefined ? identities.some((one) => one.providerId === id) : required.id === id),
  )
  return [
    ...(required === undefined
      ? []
      : [
          obstacle(
            'provider-required',
            `${user.email} signs in at ${required.settings.name} only, not with a password, a passkey or an account at another provider.`,
            { provider: required.settings.name },
          ),
        ]),
    ...disabled.map(({ settings: { name: provider } }) =>
      obstacle('provider-disabled', `The provider ${provider} is disabled.`, { provider }),
    ),
  ]
}

/** The attempts of strangers lock out no browser in which the account signed in before. */
function locksOf(context: Context, account: Account, { hits, providers }: SignInFacts): readonly Obstacle[] {
  const { user, app } = account
  const hasPassword = waysOf(context, account, providers).includes('password')
  const passwords = user.email === undefined || !hasPassword ? undefined : hits.get(accountBucket(context, user.email))
  const codes = app === undefined ? undefined : hits.get(codeBucket(context, user.id))
  const until = (time: EpochMs): string => `until ${iso(time)}, except in browsers that it knows`
  return [
    ...(passwords === undefined || passwords.count < ACCOUNT_LIMIT
      ? []
      : [
          obstacle(
            'too-many-passwords',
            `After ${ACCOUNT_LIMIT} wrong passwords none is checked ${until(passwords.windowEndsAt)}.`,
            { attempts: ACCOUNT_LIMIT, until: passwords.windowEndsAt },
          ),
        ]),
    ...(codes === undefined || codes.count < CODE_LIMIT
      ? []
      : [
          obstacle('too-many-codes', `After ${CODE_LIMIT} wrong codes none is checked ${until(codes.windowEndsAt)}.`, {
            attempts: CODE_LIMIT,
            until: codes.windowEndsAt,
          }),
        ]),
    ...(app === undefined || app.failures < GUESS_LIMIT
      ? []
      : [
          obstacle(
            'codes-locked',
            `After ${GUESS_LIMIT} wrong codes of the authenticator app only a browser that the account knows may send one, or a recovery code.`,
            { attempts: GUESS_LIMIT, until: undefined },
          ),
        ]),
  ]
}

export async function describeApp(
  { store }: Context,
  app: SecondFactorRecord | undefined,
): Promise<z.output<typeof APP_DOCUMENT> | null> {
  if (app === undefined) return null
  return {
    added_at: iso(app.createdAt),
    used_at: isoOrNull(app.usedAt),
    recovery_codes: await store.countRecoveryCodes(app.userId),
    is_locked: app.failures >= GUESS_LIMIT,
  }
}

function obstacle(
  reason: Obstacle['reason'],
  message: string,
  of?: { readonly provider: string } | { readonly attempts: number; readonly until: EpochMs | undefined },
): Obstacle {
  const lock = of !== undefined && 'attempts' in of ? of : undefined
  const provider = of !== undefined && 'provider' in of ? of.provider : null
  return { reason, message, provider, wrong_attempts: lock?.attempts ?? null, until: isoOrNull(lock?.until) }
}
