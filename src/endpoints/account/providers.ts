import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { IdentityRecord } from '../../ports/records/provider.ts'
import { mayHavePasskeys, providersFor } from '../../users/provider-routing.ts'
import { openBrowser } from '../authorization/interaction.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { changingSession } from '../sign-in/changing-session.ts'
import {
  addableProviders,
  countsPassword,
  findStayReason,
  markOf,
  otherFactors,
  viewOwnIdentity,
  type OwnerInput,
} from '../sign-in/methods.ts'
import { findAddress, leave } from '../sign-in/provider/depart.ts'
import { doneAt, frameOf, countChange } from './frame.ts'
import { ownerInput } from './security.ts'
import { noticesOf } from '../../users/mails.ts'

/** Shows the providers that the user can add. */
export async function showProviders(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const addable = addableProviders(context, await ownerInput(context, request, owner))
  if (addable.length === 0) return doneAt(context, request, 'security', undefined)
  const providers = addable.map((one) => ({ id: one.id, name: one.settings.name, mark: markOf(one) }))
  const frame = await frameOf(context, request, owner)
  return { kind: 'page', status: 200, page: { kind: 'account-add-provider', frame, providers } }
}

/** Sends the user to a provider, whose account becomes a sign-in method. */
export async function addProvider(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const id = request.params.get('provider')
  const provider = providersFor(context.settings, await context.providers(), owner.user.email).find(
    (one) => one.id === id,
  )
  const browserHash = openBrowser(context, request)
  const known = { user: owner.user.id }
  if (browserHash === undefined) return errorPage('browser_differs', known)
  if (provider === undefined) return errorPage('form_field_malformed', known)
  await countChange(context, owner, 'sign-in-methods')
  const target = { purpose: 'account', page: 'security', browserHash, uiLocales: request.uiLocales } as const
  const departure = {
    provider,
    target,
    purpose: { kind: 'connect' },
    email: owner.user.email,
    signedIn: owner,
    isAgain: false,
  } as const
  const location = await findAddress(context, request, departure)
  return location === undefined ? errorPage('provider_unreachable', known) : leave(provider, location, {})
}

/** Asks before an account at a provider is removed. One that stays, or that the user does not have, leads to the sign-in methods. */
export async function askToRemoveProvider(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { identity, input } = await findRemovable(context, request, owner)
  if (identity === undefined) return doneAt(context, request, 'security', undefined)
  return {
    kind: 'page',
    status: 200,
    page: {
      kind: 'account-remove-provider',
      frame: await frameOf(context, request, owner),
      identity: viewOwnIdentity(context, input, identity),
      hidden: { identity: identity.key },
    },
  }
}

/**
 * Removes an account at a provider from the user's sign-in methods. The other sessions that started there end, and what apps got by its
 * assertions. One method always remains.
 */
export async function removeProvider(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { identity, input } = await findRemovable(context, request, owner)
  if (identity === undefined) return doneAt(context, request, 'security', undefined)
  await countChange(context, owner, 'sign-in-methods')
  const passwordCounts = countsPassword(context, input)
  const outcome = await context.store.unlinkIdentity({
    ...identity,
    passwordCounts,
    passkeysCount: mayHavePasskeys(context, input),
    factors: otherFactors(context, input, identity.key),
    session: await changingSession(context, owner),
    now: context.clock(),
    mails: noticesOf(context, owner.user, 'provider-removed', request),
  })
  if (outcome !== 'unlinked') return doneAt(context, request, 'security', undefined)
  return { ...doneAt(context, request, 'security', 'method-removed'), event: { event: 'identity.unlinked' } }
}

/** The identity that the request names, if it is one of the user that can be removed. */
async function findRemovable(
  context: Context,
  request: Request,
  owner: SignedIn,
): Promise<{ readonly identity: IdentityRecord | undefined; readonly input: OwnerInput }> {
  const input = await ownerInput(context, request, owner)
  const key = request.params.get('identity')
  const identity = input.identities.find((one) => one.key === key && findStayReason(context, input, one) === undefined)
  return { identity, input }
}
