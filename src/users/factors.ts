import type { Context } from '../ports/context.ts'
import type { PasskeyRecord } from '../ports/records/passkey.ts'
import type { IdentityRecord, ProviderRecord } from '../ports/records/provider.ts'
import type { SecondFactorRecord } from '../ports/records/second-factor.ts'
import type { UserRecord } from '../ports/records/user.ts'
import type { UserId } from '../protocol/ids.ts'
import type { AuthenticationLevel } from '../protocol/sign-in/authentication.ts'
import type { IdentityKey } from '../protocol/sign-in/provider-identity.ts'
import type { PasskeyId } from '../protocol/sign-in/passkey.ts'
import { secretName } from '../protocol/sign-in/totp.ts'
import { findRequiredProvider, isUsable, mayHavePasskeys, offersPasskeys } from './provider-routing.ts'

/** Second factors of an account. */
export interface Factors {
  /** The authenticator app. */
  readonly app: SecondFactorRecord | undefined
  readonly passkeys: readonly PasskeyRecord[]
  /** At providers with `multi_factor`, where the person signs in with two factors. */
  readonly identities: readonly IdentityRecord[]
}

/**
 * What "the account has a second factor" means. Each caller says which of the three it asks for (threats.md ACC-20):
 *
 * - `held`: it is stored.
 * - `counting`: a sign-in to the account may be completed with it, by the rules for its address. An outage changes nothing: the factor of
 *   a disabled provider counts, so that no other person puts one in its place. An app that a leak made void does not count, nor does an
 *   identity where the address requires another provider: they never complete a sign-in.
 * - `usable`: of those, what completes a sign-in now.
 */
export type FactorSense = 'held' | 'counting' | 'usable'

/** An account with all that it can sign in with. */
export interface FactorHolder extends Factors {
  readonly user: Pick<UserRecord, 'email'>
}

/** The second factors of an account, in each of the three senses. */
export function factorsOf(
  context: Context,
  { user, app, passkeys, identities }: FactorHolder,
  providers: readonly ProviderRecord[],
): Readonly<Record<FactorSense, Factors>> {
  const required = findRequiredProvider(providers, user.email)
  const at = (isMeant: (provider: ProviderRecord) => boolean): readonly IdentityRecord[] => {
    const meant = new Set(providers.filter((one) => one.settings.multiFactor && isMeant(one)).map(({ id }) => id))
    return identities.filter(({ providerId }) => meant.has(providerId))
  }
  const isRouted = ({ id }: ProviderRecord): boolean => required === undefined || required.id === id
  const working = app !== undefined && openApp(context, app) !== undefined ? app : undefined
  const isHere = context.settings.delegate === undefined
  return {
    held: { app, passkeys, identities: at(() => true) },
    counting: { app: working, passkeys, identities: at(isRouted) },
    usable: {
      app: isHere ? working : undefined,
      passkeys: offersPasskeys(context) ? passkeys : [],
      identities: at((one) => isRouted(one) && isUsable(context.settings, one)),
    },
  }
}

/** Reads the second factors of a user. */
export async function findFactors(
  context: Context,
  user: Pick<UserRecord, 'id' | 'email'>,
): Promise<Readonly<Record<FactorSense, Factors>>> {
  const { store } = context
  const [providers, app, passkeys, identities] = await Promise.all([
    context.providers(),
    store.findSecondFactor(user.id),
    store.listPasskeys(user.id),
    store.listIdentities(user.id),
  ])
  return factorsOf(context, { user, app, passkeys, identities }, providers)
}

/** Whether there is any. */
export function hasFactor({ app, passkeys, identities }: Factors): boolean {
  return app !== undefined || passkeys.length + identities.length > 0
}

/** The highest level that a user who signs in here can reach with a factor of the account; `level`: what a session has already. */
export async function findReachableLevel(
  context: Context,
  userId: UserId,
  level: AuthenticationLevel,
): Promise<AuthenticationLevel> {
  const { store } = context
  if (offersPasskeys(context) && (await store.listPasskeys(userId)).length > 0) return 3
  const app = await store.findSecondFactor(userId)
  return app === undefined || openApp(context, app) === undefined ? level : 2
}

/**
 * Whether a user whose account has no second factor may add a passkey as the first one: as on the account pages, not where a provider is
 * required for the address, because no change of the sign-in asks for such a passkey, so that an app would be added beside it (threats.md
 * ACR-06). An app that a leak made void is replaced by another app, as the store has it.
 */
export async function mayAddPasskey(context: Context, user: Pick<UserRecord, 'id' | 'email'>): Promise<boolean> {
  const { held, counting } = await findFactors(context, user)
  const isOffered = mayHavePasskeys(context, { user, providers: await context.providers() })
  return isOffered && held.app === undefined && !hasFactor(counting)
}

/** Whether a passkey or an identity is the only one. */
export function isOnlyFactor({ app, passkeys, identities }: Factors, key: PasskeyId | IdentityKey): boolean {
  const [only, ...others] = [...passkeys.map(({ id }) => id), ...identities.map((one) => one.key)]
  return app === undefined && only === key && others.length === 0
}

/** The secret of an app. undefined: it was readable when the root secret leaked, so the app is void (threats.md OTP-07). */
export function openApp({ encryption }: Context, { userId, secret }: SecondFactorRecord): Buffer | undefined {
  return encryption.decrypt(secretName(userId), secret)
}

/**
 * When a sign-in with one factor is followed by the second step. `always`: with GRANTOR_SECOND_FACTOR=required, and for an account with an
 * app, also a void one, which is replaced then. `if-counting`: an account with a role, or in a protected group, confirms with a factor that it
 * has, because the console refuses one factor: neither the mailbox nor the password alone must lead there (threats.md ACC-20). The role may be
 * one that does not count now.
 */
export function factorNeedOf(
  { secondFactor }: Pick<Context['settings'], 'secondFactor'>,
  { app, isHolder }: { readonly app: SecondFactorRecord | undefined; readonly isHolder: boolean },
): FactorNeed {
  if (secondFactor === 'required' || app !== undefined) return 'always'
  return isHolder ? 'if-counting' : 'never'
}

export type FactorNeed = 'always' | 'if-counting' | 'never'

/** The same, of an account that is read now. */
export async function findFactorNeed(
  { settings, store }: Context,
  { id }: Pick<UserRecord, 'id'>,
): Promise<FactorNeed> {
  const [app, isHolder] = await Promise.all([store.findSecondFactor(id), store.isHolder(id)])
  return factorNeedOf(settings, { app, isHolder })
}
