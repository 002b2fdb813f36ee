import type { OwnMethod } from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import type { SignInOffer } from '../../ports/pages.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { PATHS, pageAddress } from '../paths.ts'
import type { SignInTarget } from './target.ts'

/** How users can authenticate. */
export type SignInMethodName = 'delegate' | 'password'

/**
 * A sign-in method. Its endpoints are rows of ENDPOINTS; they authenticate the user, and call `finishSignIn`.
 */
export interface SignInMethod {
  readonly name: SignInMethodName
  /** What the sign-in page shows for the method. Empty: the method is switched off. */
  readonly offer: (context: Context, target: SignInTarget) => readonly SignInOffer[]
  /** What the user's account page shows of the method. Empty: the user cannot have it. */
  readonly ofUser: (context: Context, user: UserRecord) => readonly OwnMethod[]
}

/** The table of sign-in methods, in the order of the sign-in page. */
export const SIGN_IN_METHODS: readonly SignInMethod[] = [
  { name: 'delegate', offer: offerApplication, ofUser: () => [] },
  { name: 'password', offer: offerPassword, ofUser: ownPassword },
]

function offerApplication(context: Context, target: SignInTarget): readonly SignInOffer[] {
  const uri = leaveAddress(context, target)
  return uri === undefined ? [] : [{ kind: 'application', uri }]
}

/** The address that redirects to the operator's application. undefined: this server signs users in. */
export function leaveAddress(
  { issuer, settings }: Pick<Context, 'issuer' | 'settings'>,
  target: SignInTarget,
): string | undefined {
  if (settings.delegate === undefined) return undefined
  const { uiLocales } = target
  const subject = target.purpose === 'account' ? { page: target.page } : { authorization: target.authorization.id }
  return pageAddress(issuer, PATHS.leave, { ...subject, uiLocales })
}

function offerPassword({ issuer, settings }: Context, { uiLocales }: SignInTarget): readonly SignInOffer[] {
  if (settings.passwords === 'off') return []
  const action = pageAddress(issuer, PATHS.signIn, { uiLocales })
  return [{ kind: 'password', action }]
}

function ownPassword({ settings }: Context, { email, passwordHash }: UserRecord): readonly OwnMethod[] {
  if (settings.passwords === 'off' || email === undefined) return []
  return [{ kind: 'password', isSet: passwordHash !== undefined, username: email }]
}
