import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { isUsable, usableProviders } from '../../../users/provider-routing.ts'
import { signInPage, signInProblem } from '../page.ts'
import { buttonParts, findConfirming, findSubmittedTarget } from '../target.ts'
import { downProblem, findAddress, leave, offProblem, SIGN_IN, type Departure } from './depart.ts'
import { findProof, PROOF_FIELD, type OpenProof } from './proof.ts'

/** Sends the browser to the provider of a button of the sign-in page. */
export async function signInAtProvider(context: Context, request: Request): Promise<Reply> {
  const target = await findSubmittedTarget(context, request)
  if ('kind' in target) return target
  const providers = usableProviders(context.settings, await context.providers())
  const named = request.params.get('provider') ?? ''
  const offered = request.params.get('offered') ?? ''
  const isOffered = context.secrets.digestMatches('csrf', buttonParts(target, named), offered)
  const provider = isOffered ? providers.find(({ id }) => id === named) : undefined
  if (provider === undefined) return signInProblem(context, target, { kind: 'method-off' })
  const proof = await findProof(context, request.params.get(PROOF_FIELD), target.browserHash)
  const email = target.purpose === 'authorization' ? target.authorization.loginHint : undefined
  return goToProvider(context, request, { provider, target, email }, proof)
}

/**
 * The page that leads to the provider, or the sign-in page with the reason why not. `proof`: the person signs in to its account, to connect
 * another provider.
 */
export async function goToProvider(
  context: Context,
  request: Request,
  departure: Omit<Departure, 'purpose' | 'signedIn' | 'isAgain'>,
  proof: OpenProof | undefined,
): Promise<Reply> {
  const { provider, target, email = '' } = departure
  const shown = { email, isConfirmation: false, proof, cameFrom: provider.id }
  if (!isUsable(context.settings, provider))
    return signInPage(context, target, { ...shown, problem: offProblem(provider) })
  const signedIn = await findConfirming(context, request, target)
  const purpose =
    proof === undefined
      ? SIGN_IN
      : ({ kind: 'proof', userId: proof.proof.identity.userId, hash: proof.proof.hash } as const)
  const location = await findAddress(context, request, { ...departure, purpose, signedIn, isAgain: false })
  if (location !== undefined) return leave(provider, location, {})
  return signInPage(context, target, { ...shown, problem: downProblem(provider) })
}
