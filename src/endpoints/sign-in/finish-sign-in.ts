import assert from 'node:assert/strict'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ProvenIdentity } from '../../ports/operations/session.ts'
import type { ApprovingSession } from '../../ports/records/logout-notice.ts'
import { levelOf } from '../../protocol/sign-in/authentication.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import type { PasskeyId } from '../../protocol/sign-in/passkey.ts'
import { mintSessionId, type InteractionId, type SessionId } from '../../protocol/ids.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import type { ConsentAnswer } from '../authorization/next-step.ts'
import { endOf, findReplaceable, type SignedIn } from '../authorization/session.ts'
import { noticesOf } from '../../users/mails.ts'
import { findCovered } from './changing-session.ts'
import { secondStepPage } from './second-step/page.ts'
import { reportFailure } from './provider/depart.ts'
import { mayGoOn, mintWaiting, type FirstStep } from './second-step/waiting.ts'
import { needsSecondStep } from './second-step/ways.ts'
import { continueWith, type SignInTarget } from './target.ts'

/** A user whom a sign-in method has authenticated just now, as the method read the record. */
export interface AuthenticatedUser extends FirstStep {
  /** With which the user authenticated, in the first step or in the second. undefined: the user did not. */
  readonly passkey: PasskeyId | undefined
  /** When the app was stored whose code was the second step, or in whose place a recovery code was. undefined: the second step was another. */
  readonly app: EpochMs | undefined
  /** The session that a second factor was added to. undefined: the user has done a first step. */
  readonly stepUp: ApprovingSession | undefined
  /** When the session ends to which a code was added without a first factor. undefined: after a whole lifetime. */
  readonly endsAt: EpochMs | undefined
  /** What the operator's application decided, if it authenticated the user. undefined: a usual session starts. */
  readonly delegated: DelegatedSession | undefined
}

/** The session that follows from the answer of the operator's application. */
export interface DelegatedSession {
  readonly interactionId: InteractionId
  readonly id: SessionId
  readonly credential: MintedCredential
  readonly expiresAt: EpochMs
  /** Whether the browser gets the cookie. If not, a session that the browser has stays. */
  readonly isKept: boolean
  readonly consent: ConsentAnswer
}

/**
 * The account is disabled, or it was disabled or deleted, its password changed or its tokens were revoked while the method authenticated
 * the user. `repeated`: the answer of the operator's application was used before.
 */
export interface RefusedSignIn {
  readonly kind: 'refused'
  readonly reason: 'disabled' | 'changed' | 'repeated'
}

/**
 * Starts the session of a user whom a sign-in method has authenticated, and continues with what the user signed in for. If a second step
 * is needed, the reply is its page, and no session starts. No other function starts sessions, so no method can skip what is checked here.
 *
 * Each sign-in has a new session, and the previous session of the browser ends, so an earlier cookie is useless (threats.md
 * UI-05). The method shows the same page for every reason of a refusal.
 */
export async function finishSignIn(
  context: Context,
  request: Request,
  target: SignInTarget,
  authenticated: AuthenticatedUser,
): Promise<Reply | RefusedSignIn> {
  const { user, delegated } = authenticated
  const isDelegated = context.settings.delegate !== undefined
  assert.equal(delegated !== undefined, isDelegated, 'Only the application signs users in while sign-in is delegated.')
  if (user.disabledAt !== undefined) return { kind: 'refused', reason: 'disabled' }
  if (!(await mayGoOn(context, authenticated))) return { kind: 'refused', reason: 'changed' }
  if (await needsSecondStep(context, user, authenticated)) {
    const waiting = mintWaiting(context, target, authenticated, undefined)
    return secondStepPage(context, target, { ...authenticated, waiting, stepUp: undefined }, undefined)
  }
  const started = await startSession(context, request, target, authenticated)
  if ('reason' in started) return started
  const cookies = delegated?.isKept === false ? {} : { session: started.credential }
  return continueWith(context, target, started.signedIn, cookies, delegated?.consent ?? { kind: 'not-asked' })
}

/**
 * The identity that the user proved before this sign-in, which is what the sign-in was for. It is linked with the session, and not before
 * the second step (threats.md UP-32).
 */
async function findLink(
  context: Context,
  request: Request,
  { user, methods, link }: AuthenticatedUser,
): Promise<ProvenIdentity | undefined> {
  const proof = link === undefined ? undefined : await context.store.findIdentityProof(user.id)
  if (proof === undefined || proof.hash !== link) return undefined
  const now = context.clockCheck.now()
  return {
    identity: { ...proof.identity, linkedAt: now, usedAt: now },
    hash: link,
    covers: await findCovered(context, user, methods),
    mails: noticesOf(context, user, 'provider-added', request),
  }
}

/** Refuses if what the sign-in rests on has changed since the user authenticated, possibly on another node. */
async function startSession(
  context: Context,
  request: Request,
  { browserHash }: SignInTarget,
  authenticated: AuthenticatedUser,
): Promise<{ readonly signedIn: SignedIn; readonly credential: MintedCredential } | RefusedSignIn> {
  const { user, methods, at, providerId, identity, groups, stepUp, passkey, app, delegated } = authenticated
  const previous = await findReplaceable(context, request.cookies)
  const now = context.clockCheck.now()
  const id = delegated?.id ?? mintSessionId(now, context.random)
  const credential = delegated?.credential ?? context.secrets.mint('session', id, context.random)
  const session = {
    id,
    hash: credential.hash,
    userId: user.id,
    authentication: { methods, at, providerId },
    agent: request.agent,
    network: request.network,
    seenAt: now,
    createdAt: now,
    expiresAt: delegated?.expiresAt ?? authenticated.endsAt ?? after(now, context.settings.lifetimes.session * 1000),
  }
  const isSameUser = previous?.user.id === user.id
  const replaces = isSameUser && delegated?.isKept !== false ? previous.session.id : undefined
  const { passwordHash, notBefore } = user
  const interactionId = delegated?.interactionId
  const isSecondStepDone = delegated !== undefined || levelOf(methods) > 1
  const start = {
    session,
    browserHash,
    replaces,
    passwordHash,
    notBefore,
    interactionId,
    identity,
    link: await findLink(context, request, authenticated),
    groups,
    stepUp,
    passkey,
    app,
    isSecondStepDone,
  }
  const started = await context.store.startSession(start)
  if (started.kind !== 'started') {
    return { kind: 'refused', reason: started.kind === 'user-changed' ? 'changed' : 'repeated' }
  }
  if (started.groups === 'too-many' && providerId !== undefined) reportFailure(context, { id: providerId }, 'groups')
  // The cookie of the previous session is overwritten, so its user could no longer sign out of it.
  if (previous !== undefined && !isSameUser) await context.store.endSession(endOf(context, previous))
  return { signedIn: { session: { ...session, rootId: started.rootId }, user }, credential }
}
