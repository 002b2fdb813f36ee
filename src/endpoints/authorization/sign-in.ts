import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignInProblem } from '../../ports/pages.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { EMAIL_LIMIT, normalizeEmail } from '../../protocol/account.ts'
import { after } from '../../protocol/brand.ts'
import { OAuthError } from '../../protocol/errors.ts'
import { mintSessionId } from '../../protocol/ids.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import { formTarget, viewClient } from './client-view.ts'
import { findRemembered } from './remembered-consent.ts'
import { approve } from './approval.ts'
import { errorPage } from '../error-page.ts'
import { findInteraction, findOpenInteraction, isCrossSite, type Interaction } from './interaction.ts'
import { findChoices } from './organization-choice.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { NOT_A_MEMBER, refuseStarted } from './authorization-error.ts'
import { countAttempt } from './sign-in-throttle.ts'
import { findSignedIn, type SignedIn } from './session.ts'

/** Bytes. Longer passwords cost hashing time and help nobody. */
const PASSWORD_LIMIT = 1024

/** The form to sign in, for the authorization that its address names (decisions.md D8). */
export async function showSignIn(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  return signInPage(context, interaction, interaction.authorization.loginHint ?? '', undefined)
}

/**
 * Signs a person in and goes on with the authorization.
 *
 * The session is a new one each time and ends the one before, so a cookie from before gives nothing (threats.md UI-05).
 * A wrong password and an unknown account answer the same, after the same work.
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
  // Something that is no address stays in the field, so that it can be mended.
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
    // Of an account that does not exist the audit has as many events as of one that exists (threats.md UI-08).
    const account = context.secrets.digest('bucket', ['sign-in', 'account', email])
    const details = { reason, account }
    context.report({ event: 'sign-in.failed', clientId: interaction.client.id, userId: user?.id, details })
    const page = signInPage(context, interaction, email, { kind: 'wrong-credentials' })
    return { ...page, event: refusal(interaction, reason) }
  }
  await attempt.forgive()
  const earlier = await findSignedIn(context, request.cookies)
  return goOn(context, interaction, user, earlier)
}

/**
 * Why the sign-in failed, for the operator; undefined: it succeeded. Checking a password takes a while, in which it may be
 * changed and the account disabled. The page says of each reason what it says of a wrong password.
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
    // A person gets the form back instead of a bare 503, with what was typed.
    if (cause instanceof OAuthError && cause.slug === 'password_queue_full') return 'busy'
    throw cause
  }
}

async function goOn(
  context: Context,
  interaction: Interaction,
  user: UserRecord,
  earlier: SignedIn | undefined,
): Promise<Reply> {
  const { authorization, client, browserHash, uiLocales } = interaction
  const session = await startSession(context, user, browserHash, earlier)
  const choices = await findChoices(context, authorization, user.id)
  if (choices.kind === 'not-a-member') return refuseStarted(context, interaction, user.id, NOT_A_MEMBER, { session })
  const remembered = await findRemembered(context, client, authorization, user.id, choices)
  if (remembered !== undefined && !authorization.mustConsent)
    return approve(context, authorization, client, remembered, { session })
  const location = pageAddress(context.issuer, PATHS.consent, { authorization: authorization.id, uiLocales })
  const event = { event: 'sign-in.succeeded', client: client.id }
  return { kind: 'redirect', location, cookies: { session }, event }
}

async function startSession(
  context: Context,
  user: UserRecord,
  browserHash: Interaction['browserHash'],
  earlier: SignedIn | undefined,
): Promise<MintedCredential> {
  const now = context.clockCheck.now()
  const id = mintSessionId(now, context.random)
  const session = context.secrets.mint('session', id, context.random)
  const expiresAt = after(now, context.settings.lifetimes.session * 1000)
  const record = { id, hash: session.hash, userId: user.id, createdAt: now, expiresAt }
  // The browser forgets the earlier session's cookie, so nobody could sign out of it any more.
  await Promise.all([
    context.store.startSession({ session: record, browserHash }),
    earlier === undefined ? undefined : context.store.endSession(earlier.session.id),
  ])
  return session
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
  const { authorization, client, uiLocales } = interaction
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
      client: viewClient(client, authorization.redirectUri, context.clock()),
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
