import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { hiddenFields, type SignInTarget } from '../target.ts'
import { openSealed, seal, type Seal } from '../../sealed.ts'
import { enrol, ENROLMENT_FIELD, openEnrolment } from '../../second-factor/enrolment.ts'
import { pageAddress, PATHS } from '../../paths.ts'
import { refusedSignIn } from '../page.ts'
import { expired, finishSecondStep, openSecondStep, openSetUp } from './finish.ts'
import { secondStepPage } from './page.ts'
import { findEnrolmentReason, WAITING_FIELD } from './waiting.ts'
import { mayEnrol, placeOf } from './ways.ts'
import { findFactors } from '../../../users/factors.ts'
import { noticesOf } from '../../../users/mails.ts'

/** The field that says that the user of the waiting sign-in has set an app up. */
const ENABLED_FIELD = 'enabled'
const ENABLED_MS = 10 * 60 * 1000

/**
 * Takes the first code of an app that the user sets up, because the sign-in or a request needs a second step and the account has none. The
 * app counts from now on. The page shows the recovery codes, and its form continues the sign-in.
 */
export async function setUpApp(context: Context, request: Request): Promise<Reply> {
  const step = await openSetUp(context, request)
  if ('kind' in step) return step
  const { target, waiting } = step
  const { user, stepUp } = waiting
  const shown = { ...waiting, waiting: request.params.get(WAITING_FIELD) ?? '' }
  const where = placeOf({ user, target })
  const enrolment = openEnrolment(context, where, request.params.get(ENROLMENT_FIELD) ?? '')
  const factors = await findFactors(context, user)
  const reason = await findEnrolmentReason(context, waiting)
  if (enrolment === undefined || reason === undefined || stepUp?.level === 3 || !mayEnrol(factors))
    return secondStepPage(context, target, shown, undefined)
  // Of the same read: only an app that was void then is replaced, and not one that was set up since (threats.md OTP-02).
  const replaces = factors.held.app
  const mails = noticesOf(context, user, 'two-step-on', request)
  const code = request.params.get('code') ?? ''
  const enrolled = await enrol(context, where, enrolment, { code, replaces, reason, mails })
  switch (enrolled.kind) {
    case 'wrong': {
      const problem = { kind: 'second-step-wrong', offer: 'set-up' } as const
      const page = await secondStepPage(context, target, { ...shown, enrolment }, problem)
      return { ...page, event: refusedSignIn(target, problem.kind, user.id) }
    }
    case 'known':
      return secondStepPage(context, target, shown, undefined)
    case 'refused':
      return expired(context, step)
    case 'enabled': {
      const enabled = seal(context, sealOf(target, shown.waiting), [enrolled.createdAt])
      return {
        kind: 'page',
        status: 200,
        page: {
          kind: 'recovery-codes',
          action: pageAddress(context.issuer, PATHS.signInAppEnabled, { uiLocales: target.uiLocales }),
          hidden: { ...hiddenFields(context, target), [WAITING_FIELD]: shown.waiting, [ENABLED_FIELD]: enabled },
          codes: enrolled.codes,
        },
        event: { event: 'second-factor.enabled', user: user.id },
      }
    }
  }
}

/** Continues the sign-in of a user who has set an app up in it, if it is still the app of the user (threats.md OTP-08). */
export async function continueWithApp(context: Context, request: Request): Promise<Reply> {
  const step = await openSecondStep(context, request)
  if ('kind' in step) return step
  const { target } = step
  const sealed = sealOf(target, request.params.get(WAITING_FIELD) ?? '')
  const enabled = openSealed(context, sealed, request.params.get(ENABLED_FIELD) ?? '', ENABLED_MS)
  if (enabled === undefined) return expired(context, step)
  const [app] = enabled.members as readonly [EpochMs]
  return finishSecondStep(context, request, step, { methods: ['otp', 'mfa'], passkey: undefined, app })
}

/** The sign-in that waits names the user. */
function sealOf({ browserHash }: SignInTarget, waiting: string): Seal {
  return { kind: 'app-enabled', browserHash, bound: [waiting] }
}
