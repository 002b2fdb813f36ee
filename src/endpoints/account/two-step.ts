import type { TwoStepView } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { secondsSince } from '../../base/brand.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { findApp, newRecoveryCodes } from '../second-factor/app.ts'
import {
  beginEnrolment,
  enrol,
  ENROLMENT_FIELD,
  openEnrolment,
  viewEnrolment,
  type Enrolment,
} from '../second-factor/enrolment.ts'
import { changingSession } from '../sign-in/changing-session.ts'
import { doneAt, frameOf, countChange } from './frame.ts'
import { noticesOf } from '../../users/mails.ts'

/** What the page of the sign-in methods says of the two-step sign-in; undefined: the operator's application signs users in. */
export async function viewTwoStep(context: Context, { user }: SignedIn): Promise<TwoStepView | undefined> {
  if (context.settings.delegate !== undefined) return undefined
  const app = await findApp(context, user.id)
  if (app?.kind !== 'on') return { kind: app?.kind ?? 'off' }
  return {
    kind: 'on',
    sinceSecondsAgo: secondsSince(app.record.createdAt, context.clock()),
    recoveryCodes: await context.store.countRecoveryCodes(user.id),
    isRemovable: isRemovable(context),
  }
}

/** Shows the QR code of an app, which takes the place of the one that the user has. */
export async function showAppSetUp(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  if (context.settings.delegate !== undefined) return doneAt(context, request, 'security', undefined)
  return appPage(context, request, owner, undefined)
}

/** Takes the first code of the app, and shows the recovery codes. The other sessions end, as after another password. */
export async function setUpOwnApp(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const known = { user: owner.user.id }
  if (context.settings.delegate !== undefined) return errorPage('form_field_malformed', known)
  const enrolment = openEnrolment(context, placeOf(owner), request.params.get(ENROLMENT_FIELD) ?? '')
  if (enrolment === undefined) return appPage(context, request, owner, undefined)
  await countChange(context, owner, 'sign-in-methods')
  const enrolled = await enrol(context, placeOf(owner), enrolment, {
    code: request.params.get('code') ?? '',
    replaces: await context.store.findSecondFactor(owner.user.id),
    reason: { kind: 'session', session: await changingSession(context, owner) },
    mails: noticesOf(context, owner.user, 'two-step-on', request),
  })
  switch (enrolled.kind) {
    case 'wrong':
      return appPage(context, request, owner, enrolment)
    case 'known':
    case 'refused':
      return doneAt(context, request, 'security', undefined)
    case 'enabled':
      return {
        ...(await codesPage(context, request, owner, enrolled.codes)),
        event: { event: 'second-factor.enabled', ...known },
      }
  }
}

/** Asks before new recovery codes replace the earlier ones. */
export async function showRecoveryCodes(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  return (await leaveWithoutApp(context, request, owner)) ?? codesPage(context, request, owner, undefined)
}

/** Makes new recovery codes, and shows them once. */
export async function replaceCodes(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const away = await leaveWithoutApp(context, request, owner)
  if (away !== undefined) return away
  const known = { user: owner.user.id }
  await countChange(context, owner, 'sign-in-methods')
  const { codes, digests } = newRecoveryCodes(context, owner.user.id)
  const mails = noticesOf(context, owner.user, 'recovery-codes-replaced', request)
  const change = {
    userId: owner.user.id,
    session: await changingSession(context, owner),
    recoveryDigests: digests,
    mails,
  }
  // The app or the session has ended meanwhile.
  if ((await context.store.replaceRecoveryCodes(change)) === 'unknown')
    return doneAt(context, request, 'security', undefined)
  return { ...(await codesPage(context, request, owner, codes)), event: { event: 'recovery-codes.replaced', ...known } }
}

/** Asks before the two-step sign-in is switched off. */
export async function askToRemoveTwoStep(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const away = await leaveWithoutApp(context, request, owner)
  if (away !== undefined) return away
  if (!isRemovable(context)) return doneAt(context, request, 'security', undefined)
  const frame = await frameOf(context, request, owner)
  return { kind: 'page', status: 200, page: { kind: 'account-remove-two-step', frame } }
}

/** Switches the two-step sign-in off. */
export async function removeTwoStep(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const away = await leaveWithoutApp(context, request, owner)
  if (away !== undefined) return away
  if (!isRemovable(context)) return doneAt(context, request, 'security', undefined)
  const known = { user: owner.user.id }
  await countChange(context, owner, 'sign-in-methods')
  const mails = noticesOf(context, owner.user, 'two-step-off', request)
  const removal = { userId: owner.user.id, session: await changingSession(context, owner), mails }
  if ((await context.store.disableTotp(removal)) === 'unknown') return doneAt(context, request, 'security', undefined)
  return {
    ...doneAt(context, request, 'security', 'two-step-removed'),
    event: { event: 'second-factor.disabled', ...known },
  }
}

/** Leads a user without an app to the sign-in methods. undefined: the user has one. */
async function leaveWithoutApp(context: Context, request: Request, owner: SignedIn): Promise<Reply | undefined> {
  const app = await findApp(context, owner.user.id)
  return app?.kind === 'on' ? undefined : doneAt(context, request, 'security', undefined)
}

/** Where every sign-in needs two factors, the app can only be replaced: a thief of the password could set up the next one. */
function isRemovable({ settings }: Context): boolean {
  return settings.secondFactor !== 'required'
}

function placeOf({ user, session }: SignedIn) {
  return { user, place: session.rootId }
}

/** `wrong`: the app whose first code was wrong; undefined: another one begins. */
async function appPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  wrong: Enrolment | undefined,
): Promise<Reply> {
  const place = placeOf(owner)
  const enrolment = wrong ?? beginEnrolment(context, place)
  const isReplacing = (await context.store.findSecondFactor(owner.user.id)) !== undefined
  return {
    kind: 'page',
    status: wrong === undefined ? 200 : 400,
    ...(wrong === undefined ? {} : { event: formRefusal('second-step-wrong', { user: owner.user.id }) }),
    page: {
      kind: 'account-set-up-app',
      frame: await frameOf(context, request, owner),
      hidden: { [ENROLMENT_FIELD]: enrolment.text },
      enrolment: viewEnrolment(context.settings.serverName, place, enrolment),
      isReplacing,
      isWrong: wrong !== undefined,
    },
  }
}

async function codesPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  codes: readonly string[] | undefined,
): Promise<Extract<Reply, { readonly kind: 'page' }>> {
  const frame = await frameOf(context, request, owner)
  return { kind: 'page', status: 200, page: { kind: 'account-recovery-codes', frame, codes } }
}
