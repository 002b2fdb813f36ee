import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignInProblem } from '../../ports/pages.ts'
import type { SessionRecord, UserRecord } from '../../ports/records/user.ts'
import { EMAIL_LIMIT, normalizeEmail } from '../../protocol/account.ts'
import { after } from '../../protocol/brand.ts'
import { OAuthError } from '../../protocol/errors.ts'
import { mintSessionId } from '../../protocol/ids.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import { formTarget, viewClient } from './client-view.ts'
import { errorPage } from '../error-page.ts'
import { findInteraction, findOpenInteraction, isCrossSite, type Interaction } from './interaction.ts'
import { nextStep, takeStep } from './next-step.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { countAttempt } from './sign-in-throttle.ts'
import { findSignedIn, type SignedIn } from './session.ts'

/** Bytes. Longer passwords cost hashing time and add no strength. */
const PASSWORD_LIMIT = 1024

/** Shows the sign-in form for the authorization in the query (decision 0022). */
export async function showSignIn(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  return signInPage(context, interaction, interaction.authorization.loginHint ?? '', undefined)
}

/**
 * Signs a user in and continues with the authorization.
 *
 * Each sign-in starts a new session and ends the previous one, so an earlier cookie is useless (threats.md UI-05). A wrong
 * password and an unknown account get the same response, after the same work.
 */
export async function signIn(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('forged')
  const interaction = await findInteraction(context, request)
  if ('kind' in interaction) return interaction
  const csrf = request.params.get('csrf') ?? ''
  if (!context.secrets.digestMatches('csrf', csrfParts(interaction), csrf)) return errorPage('forged')

  const typed = request.params.get('email') ?? ''
  const email = normalizeEmail(typed)
  const password = request.params.get('password') ?? ''
  // Invalid text stays in the field, so that the user can correct it.
  if (email === '') return signInPage(context, interaction, typed.slice(0, EMAIL_LIMIT), { kind: 'email-missing' })
  if (password === '') return signInPage(context, interaction, email, { kind: 'password-missing' })
  if (Buffer.byteLength(password) > PASSWORD_LIMIT)
    return signInPage(context, interaction, email, { kind: 'password-too-long' })

  const { browserHash } = interaction
  const attempt = await countAttempt(context, { email, network: request.network, browserHash })
  if (attempt.kind === 'refused') {
    const { retryAfterSeconds } = attempt
    return signInPage(context, interaction, email, { kind: 'throttled', retryAfterSeconds })
  }
  const user = await context.store.findUserByEmail(email)
  const isRight = await verifyPassword(context, password, user)
  if (isRight === 'busy') {
    await attempt.forgive()
    return signInPage(context, interaction, email, { kind: 'busy', retryAfterSeconds: 5 })
  }
  const failure = await findFailure(context, user, isRight)
  if (user === undefined || failure !== undefined) {
    const reason = failure ?? 'wrong-credentials'
    // Recorded for unknown accounts too, so that the audit does not reveal which accounts exist (threats.md UI-08).
    const account = context.secrets.digest('bucket', ['sign-in', 'account', email])
    const details = { reason, account }
    context.report({ event: 'sign-in.failed', clientId: interaction.client.id, userId: user?.id, details })
    const page = signInPage(context, interaction, email, { kind: 'wrong-credentials' })
    return { ...page, event: refusal(interaction, reason) }
  }
  await attempt.forgive()
  const previous = await findSignedIn(context, request.cookies)
  const { session, credential } = await startSession(context, user, browserHash, previous)
  // The new session satisfies prompt=login, even if this node's clock is behind the one that started the authorization.
  const authorization = { ...interaction.authorization, mustSignIn: false }
  const subject = { ...interaction, authorization }
  const step = await nextStep(context, subject, { session, user }, { kind: 'not-asked' })
  const reply = await takeStep(context, interaction, step, { session: credential })
  if (step.kind === 'approve' || step.kind === 'deny') return reply
  return { ...reply, event: { event: 'session.started', client: interaction.client.id } }
}

/**
 * Returns why the sign-in failed, for the log; undefined if it succeeded. The user is read again, because the password may be
 * changed or the account disabled while the password is checked. The page shows the same message for each reason.
 */
async function findFailure(
  { store }: Pick<Context, 'store'>,
  user: UserRecord | undefined,
  isRight: boolean,
): Promise<'disabled' | 'wrong-credentials' | undefined> {
  if (!isRight || user === undefined) return 'wrong-credentials'
  const now = await store.findUser(user.id)
  if (now?.passwordHash !== user.passwordHash) return 'wrong-credentials'
  return now.disabledAt === undefined ? undefined : 'disabled'
}

async function verifyPassword(
  context: Context,
  password: string,
  user: UserRecord | undefined,
): Promise<boolean | 'busy'> {
  try {
    return await context.passwords.verify(password, user?.passwordHash)
  } catch (cause) {
    // The user gets the form back, with the email, instead of a bare 503.
    if (cause instanceof OAuthError && cause.reason === 'password_queue_full') return 'busy'
    throw cause
  }
}

async function startSession(
  context: Context,
  user: UserRecord,
  browserHash: Interaction['browserHash'],
  previous: SignedIn | undefined,
): Promise<{ readonly session: SessionRecord; readonly credential: MintedCredential }> {
  const now = context.clockCheck.now()
  const id = mintSessionId(now, context.random)
  const credential = context.secrets.mint('session', id, context.random)
  const expiresAt = after(now, context.settings.lifetimes.session * 1000)
  const session = { id, hash: credential.hash, userId: user.id, createdAt: now, expiresAt }
  // The previous session's cookie is overwritten, so the user could not sign out of that session any more.
  await Promise.all([
    context.store.startSession({ session, browserHash }),
    previous === undefined ? undefined : context.store.endSession(previous.session.id),
  ])
  return { session, credential }
}

const STATUS: Readonly<Record<SignInProblem['kind'], number>> = {
  'wrong-credentials': 401,
  'email-missing': 400,
  'password-missing': 400,
  'password-too-long': 400,
  throttled: 429,
  busy: 503,
}

function signInPage(
  context: Context,
  interaction: Interaction,
  email: string,
  problem: SignInProblem | undefined,
): Reply {
  const { authorization, uiLocales } = interaction
  const csrf = context.secrets.digest('csrf', csrfParts(interaction))
  return {
    kind: 'page',
    status: problem === undefined ? 200 : STATUS[problem.kind],
    ...(problem === undefined ? {} : { event: refusal(interaction, problem.kind) }),
    formTarget: formTarget(authorization.redirectUri),
    ...(problem !== undefined && 'retryAfterSeconds' in problem
      ? { retryAfterSeconds: problem.retryAfterSeconds }
      : {}),
    page: {
      kind: 'sign-in',
      action: pageAddress(context.issuer, PATHS.signIn, { authorization: undefined, uiLocales }),
      hidden: { authorization: authorization.id, csrf },
      client: viewClient(interaction, authorization.redirectUri, context.clock()),
      email,
      problem,
    },
  }
}

function refusal({ client }: Interaction, reason: SignInProblem['kind'] | 'disabled'): OutcomeEvent {
  return { event: 'sign-in.refused', client: client.id, reason }
}

function csrfParts({ authorization, browserHash }: Interaction): readonly string[] {
  return ['sign-in', authorization.id, browserHash]
}
