import type { Context } from '../../../ports/context.ts'
import type { SecondStepOffer } from '../../../ports/pages.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import { levelOf, type Authentication } from '../../../protocol/sign-in/authentication.ts'
import type { SignInTarget } from '../target.ts'

/**
 * A way to do the second step, or to set one up. Its endpoints open the waiting sign-in (`openWaiting`), check the second factor, use the
 * waiting sign-in up, and call `finishSignIn` with the methods of both steps.
 */
export interface SecondStepWay {
  /** What the page of the second step has of the way. Empty: this user cannot use it. */
  readonly offer: (
    context: Context,
    input: { readonly user: UserRecord; readonly target: SignInTarget },
  ) => Promise<readonly SecondStepOffer[]>
}

/** The table of ways, in the order of the page. */
export const SECOND_STEP_WAYS: readonly SecondStepWay[] = []

/**
 * Whether a second step follows the first one: the account has an authenticator app, or the operator requires two factors. A passkey has
 * two factors by itself, and the operator's application and a provider with `multi_factor` have asked for them.
 */
export async function needsSecondStep(
  { settings, store }: Pick<Context, 'settings'> & { readonly store: Pick<Context['store'], 'findSecondFactor'> },
  { id }: Pick<UserRecord, 'id'>,
  { methods }: Pick<Authentication, 'methods'>,
): Promise<boolean> {
  if (settings.delegate !== undefined || levelOf(methods) > 1) return false
  return settings.secondFactor === 'required' || (await store.findSecondFactor(id)) !== undefined
}
