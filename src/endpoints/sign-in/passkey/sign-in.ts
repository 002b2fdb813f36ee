import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { finishSignIn } from '../finish-sign-in.ts'
import { refusedSignIn, signInPage } from '../page.ts'
import { findProof, PROOF_FIELD } from '../provider/proof.ts'
import { findSubmittedTarget, timeOf } from '../target.ts'
import { countUnguessable } from '../throttle.ts'
import { offersPasskeys } from '../../../users/provider-routing.ts'
import { checkOf, verifySignature } from './ceremony.ts'
import { passkeySignIn } from './offer.ts'

/**
 * Signs a user in by a passkey, which has two factors, so that no second step follows. The account of an address whose provider the
 * operator requires signs in there, unless the user connects the two just now.
 */
export async function signInByPasskey(context: Context, request: Request): Promise<Reply> {
  const target = await findSubmittedTarget(context, request)
  if ('kind' in target) return target
  const proof = await findProof(context, request.params.get(PROOF_FIELD), target.browserHash)
  const shown = { email: '', isConfirmation: false, proof }
  if (!offersPasskeys(context)) return signInPage(context, target, { ...shown, problem: { kind: 'method-off' } })
  const attempt = await countUnguessable(context, request)
  if (attempt.kind === 'refused') {
    const problem = { kind: 'throttled', retryAfterSeconds: attempt.retryAfterSeconds } as const
    return signInPage(context, target, { ...shown, problem })
  }
  const signed = await verifySignature(context, request, passkeySignIn(target), undefined)
  if (signed.kind === 'refused') {
    const page = await signInPage(context, target, { ...shown, problem: { kind: signed.reason } })
    return { ...page, event: refusedSignIn(target, signed.reason, undefined, checkOf(signed)) }
  }
  await attempt.forgive()
  const { user, passkey } = signed
  const finished = await finishSignIn(context, request, target, {
    user,
    methods: ['pop', 'mfa'],
    at: await timeOf(context, target),
    providerId: undefined,
    identity: undefined,
    link: proof?.proof.identity.userId === user.id ? proof.proof.hash : undefined,
    groups: undefined,
    passkey: passkey.id,
    app: undefined,
    stepUp: undefined,
    endsAt: undefined,
    delegated: undefined,
  })
  if (finished.kind !== 'refused') return finished
  return signInPage(context, target, { ...shown, problem: { kind: 'account-refused' }, userId: user.id })
}
