import { originOf } from '../../protocol/audit/origin.ts'
import type { Context, VerifiedPassword } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignInProblem } from '../../ports/pages/pages.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { StoreUnavailable } from '../../ports/store.ts'
import { findProviderOf, findRequiredProvider, isUsable } from '../../users/provider-routing.ts'
import { EMAIL_LIMIT, normalizeEmail } from '../../protocol/sign-in/email-address.ts'
import type { HashFormat } from '../../protocol/sign-in/password-formats.ts'
import { isPasswordTooLong } from '../../protocol/sign-in/password-rules.ts'
import { OAuthError } from '../../protocol/errors.ts'
import { finishSignIn } from './finish-sign-in.ts'
import { refusedSignIn, signInPage } from './page.ts'
import { goToProvider } from './provider/begin.ts'
import { findProof, PROOF_FIELD, type OpenProof } from './provider/proof.ts'
import { clientOf, findSubmittedTarget, signInParameters, timeOf } from './target.ts'
import { countAttempt } from './throttle.ts'

/**
 * Signs a user in by email and password. An address of a provider that the operator requires leads to the provider, whatever the
 * password is. A wrong password and an unknown account get the same response, after the same work.
 */
export async function signInByPassword(context: Context, request: Request): Promise<Reply> {
  const target = await findSubmittedTarget(context, request)
  if ('kind' in target) return target

  const typed = request.params.get('email') ?? ''
  const email = normalizeEmail(typed)
  const password = request.params.get('password') ?? ''
  const proof = await findProof(context, request.params.get(PROOF_FIELD), target.browserHash)
  const again = async (problem: SignInProblem | undefined, shown: string = email) => ({
    ...(await signInPage(context, target, { email: shown, isConfirmation: false, problem, proof })),
    // In another language the page begins with the address of the user. A proof is in the form alone, and would be lost.
    ...(proof === undefined ? { reopenedWith: signInParameters(target) } : {}),
  })
  const isAddressAlone = !request.params.names.includes('password')
  const isOff = context.settings.passwords === 'off'
  if (isOff && !isAddressAlone) return again({ kind: 'method-off' })
  // Invalid text stays in the field, so that the user can correct it.
  if (email === '') return again({ kind: 'email-missing' }, typed.slice(0, EMAIL_LIMIT))
  const providers = await context.providers()
  const required = findRequiredProvider(providers, email)
  if (required !== undefined && !(await isProofOf(context, proof, required, email))) {
    return goToProvider(context, request, { provider: required, target, email }, undefined)
  }
  if (isOff) {
    const provider = findProviderOf(providers, email)
    if (provider === undefined || !isUsable(context.settings, provider)) return again({ kind: 'address-unknown' })
    return goToProvider(context, request, { provider, target, email }, proof)
  }
  // The page asked for the address alone. It shows the provider of the address, if there is one.
  if (isAddressAlone) return again(undefined)
  if (password === '') return again({ kind: 'password-missing' })
  if (isPasswordTooLong(password)) return again({ kind: 'password-too-long' })

  const attempt = await countAttempt(context, { email, network: request.network, browserHash: target.browserHash })
  if (attempt.kind === 'refused') return again({ kind: 'throttled', retryAfterSeconds: attempt.retryAfterSeconds })
  const checked = await checkPassword(context, request, email, password)
  if (checked === 'busy') {
    await attempt.forgive()
    return again({ kind: 'busy', retryAfterSeconds: 5 })
  }
  const { user, isRight, settled } = checked
  const isProven = user !== undefined && proof?.proof.identity.userId === user.id
  const finished =
    user === undefined || !isRight
      ? undefined
      : await finishSignIn(context, request, target, {
          user,
          methods: ['pwd'],
          at: await timeOf(context, target),
          providerId: undefined,
          identity: undefined,
          link: isProven ? proof.proof.hash : undefined,
          groups: undefined,
          passkey: undefined,
          app: undefined,
          stepUp: undefined,
          endsAt: undefined,
          delegated: undefined,
        })
  if (finished === undefined || finished.kind === 'refused') {
    const reason = finished?.reason === 'disabled' ? 'disabled' : 'wrong-credentials'
    // Recorded for unknown accounts too, so that the audit does not reveal which accounts exist (threats.md UI-08).
    const account = context.secrets.digest('bucket', ['sign-in', 'account', email])
    const details = { reason, account }
    const origin = originOf(request.agent, request.callerNetwork)
    context.report({ event: 'sign-in.failed', clientId: clientOf(target)?.id, userId: user?.id, details }, origin)
    await settled()
    return { ...(await again({ kind: 'wrong-credentials' })), event: refusedSignIn(target, reason, user?.id) }
  }
  await attempt.forgive()
  return finished
}

/**
 * Whether the proof is of the account of the address, at the provider that the address requires. Elsewhere no password is checked: with a
 * proof of one's own, one could try those of others (threats.md UP-34).
 */
async function isProofOf(
  { store }: Context,
  open: OpenProof | undefined,
  { id }: ProviderRecord,
  email: string,
): Promise<boolean> {
  const { providerId, userId } = open?.proof.identity ?? {}
  return providerId === id && (await store.findUserByEmail(email))?.id === userId
}

/** A password that was verified, and the account as it is then. */
type CheckedPassword = Pick<VerifiedPassword, 'isRight' | 'settled'> & { readonly user: UserRecord | undefined }

async function checkPassword(
  context: Context,
  { network }: Request,
  email: string,
  password: string,
): Promise<CheckedPassword | 'busy'> {
  try {
    const user = await context.store.findUserByEmail(email)
    const verified = await context.passwords.verify(password, user?.passwordHash, network)
    const { replaceable } = verified
    if (user === undefined || user.disabledAt !== undefined || replaceable === undefined) return { user, ...verified }
    const passwordHash = await upgradeHash(context, user, { password, format: replaceable, network })
    if (passwordHash !== undefined) return { user: { ...user, passwordHash }, ...verified }
    // Another sign-in may have replaced it at the same moment, or the user the password.
    const current = await context.store.findUserByEmail(email)
    if (current?.passwordHash === user.passwordHash) return { user: current, ...verified }
    return { user: current, ...(await context.passwords.verify(password, current?.passwordHash, network)) }
  } catch (cause) {
    // The user gets the form back, with the email, instead of a bare 503.
    if (cause instanceof OAuthError && cause.reason === 'password_queue_full') return 'busy'
    throw cause
  }
}

/**
 * Replaces a hash that another system has made by one of this server. That is done before the session starts or the second step is asked
 * for, because both are bound to the hash, and the password is not kept until then. Returns undefined if it stays, or was
 * replaced meanwhile: the sign-in goes on without.
 */
async function upgradeHash(
  { passwords, record, store }: Context,
  { id, passwordHash: previousHash }: UserRecord,
  { password, format, network }: { readonly password: string; readonly format: HashFormat; readonly network: string },
): Promise<string | undefined> {
  try {
    const passwordHash = await passwords.hash(password, network)
    const outcome = await store.upgradePassword({ id, previousHash, passwordHash, format })
    return outcome === 'changed' ? passwordHash : undefined
  } catch (cause) {
    if (!(cause instanceof OAuthError || cause instanceof StoreUnavailable)) throw cause
    record({
      event: 'user.password-upgrade-failed',
      user: id,
      reason: cause instanceof OAuthError ? cause.reason : 'store_unavailable',
    })
    return undefined
  }
}
