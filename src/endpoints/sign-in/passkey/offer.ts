import type { Context } from '../../../ports/context.ts'
import type { SignInOffer } from '../../../ports/pages/pages.ts'
import { PATHS, pageAddress } from '../../paths.ts'
import { keyOf, type SignInTarget } from '../target.ts'
import { offersPasskeys } from '../../../users/provider-routing.ts'
import { askToSign, type Ceremony } from './ceremony.ts'

/** A button of the sign-in page, which browsers without scripts do not show. Showing it stores nothing. */
export function offerPasskey(context: Context, { target }: { readonly target: SignInTarget }): readonly SignInOffer[] {
  if (!offersPasskeys(context)) return []
  const action = pageAddress(context.issuer, PATHS.signInByPasskey, { uiLocales: target.uiLocales })
  return [{ kind: 'passkey', action, ceremony: askToSign(context, passkeySignIn(target), undefined) }]
}

/** The ceremony of a sign-in. */
export function passkeySignIn(target: SignInTarget): Ceremony {
  return { browserHash: target.browserHash, purpose: 'sign-in', bound: [keyOf(target)] }
}
