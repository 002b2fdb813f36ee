import type { Context } from '../../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../../ports/message.ts'
import type { SignInProblem } from '../../../ports/pages/pages.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import type { SignedIn } from '../../authorization/session.ts'
import { demandOf, keyOf, type SignInTarget } from '../target.ts'
import { mintState, type ProviderPurpose } from './state.ts'

/** A person who is about to go to a provider. */
export interface Departure {
  readonly provider: ProviderRecord
  readonly target: SignInTarget
  readonly purpose: ProviderPurpose
  /** The address that the person typed, or that the client or the session named. */
  readonly email: string | undefined
  /** The user of the browser, who adds a sign-in method or confirms the own identity for an account page. */
  readonly signedIn: SignedIn | undefined
  /** Whether the provider has to authenticate the person, because its last answer did not say a time that is new enough. */
  readonly isAgain: boolean
}

/** To sign in, and nothing else. */
export const SIGN_IN = { kind: 'sign-in' } as const

/** Why the sign-in page is shown again. */
export function downProblem({ settings: { name, routing } }: ProviderRecord) {
  return { kind: 'provider-down', provider: name, isRequired: routing === 'required' } as const
}

/** The same while users cannot sign in at the provider. */
export function offProblem({ settings: { name }, disabledAt }: ProviderRecord): SignInProblem {
  return disabledAt === undefined ? { kind: 'method-off' } : { kind: 'provider-off', provider: name }
}

/**
 * The page that goes on to a provider by itself. It is a page and not a redirect, because browsers apply `form-action` of the
 * sign-in page to every redirect that follows a form, and a provider may redirect to hosts that are unknown here.
 */
export function leave({ settings: { name } }: ProviderRecord, uri: string, cookies: CookieChanges): Reply {
  return { kind: 'page', status: 200, page: { kind: 'leave', provider: name, uri }, cookies }
}

/** The address at the provider; undefined: the provider does not answer. */
export async function findAddress(
  context: Context,
  { network }: Pick<Request, 'network'>,
  { provider, target, purpose, email, signedIn, isAgain }: Departure,
): Promise<string | undefined> {
  const { browserHash } = target
  // A session that is left over at the provider changes no sign-in methods: neither for an account page nor as a proof.
  const isChange = signedIn !== undefined || purpose.kind === 'proof'
  const demand = await demandOf(context, target, isChange || isAgain, context.clockCheck.now())
  const binding = mintState(context, provider, {
    purpose,
    targetKey: keyOf(target),
    browserHash,
    signedIn,
    signInAfter: demand?.after,
  })
  const begun = await context.providerSignIn.begin(provider, {
    ...binding,
    network,
    demand,
    loginHint: email,
  })
  if (begun.kind === 'ready') return begun.location
  reportFailure(context, provider, begun.reason)
  return undefined
}

/** Reports a failure that the operator may want to look into. */
export function reportFailure({ report }: Context, { id }: Pick<ProviderRecord, 'id'>, reason: string): void {
  report({ event: 'provider.failed', details: { provider: id, reason } })
}
