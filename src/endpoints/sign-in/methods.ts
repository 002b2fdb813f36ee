import type { Context } from '../../ports/context.ts'
import type { SignInOffer } from '../../ports/pages.ts'
import { PATHS, pageAddress } from '../paths.ts'
import type { SignInTarget } from './target.ts'

/** How users can authenticate. */
export type SignInMethodName = 'password'

/**
 * A sign-in method. Its endpoints are rows of ENDPOINTS; they authenticate the user, and call `finishSignIn`.
 */
export interface SignInMethod {
  readonly name: SignInMethodName
  /** What the sign-in page shows for the method. Empty: the method is switched off. */
  readonly offer: (context: Context, target: SignInTarget) => readonly SignInOffer[]
}

/** The table of sign-in methods, in the order of the sign-in page. */
export const SIGN_IN_METHODS: readonly SignInMethod[] = [{ name: 'password', offer: offerPassword }]

function offerPassword({ issuer, settings }: Context, { uiLocales }: SignInTarget): readonly SignInOffer[] {
  if (settings.passwords === 'off') return []
  const action = pageAddress(issuer, PATHS.signIn, { authorization: undefined, uiLocales })
  return [{ kind: 'password', action }]
}
