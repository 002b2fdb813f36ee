import type { PasskeyProblem } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { PasskeyRecord } from '../../ports/records/passkey.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { mayHavePasskeys } from '../../users/provider-routing.ts'
import { browserOf, openBrowser } from '../authorization/interaction.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import {
  countsPassword,
  findPasskeyStayReason,
  otherFactors,
  viewPasskey,
  type OwnerInput,
} from '../sign-in/methods.ts'
import { changingSession } from '../sign-in/changing-session.ts'
import { askToMake, checkOf, forgetRemoved, verifyNewPasskey, type Ceremony } from '../sign-in/passkey/ceremony.ts'
import { doneAt, frameOf, countChange } from './frame.ts'
import { ownerInput, securityPage } from './security.ts'
import { noticesOf } from '../../users/mails.ts'

/** Shows the form that asks the browser for a passkey. */
export async function showAddPasskey(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const input = await ownerInput(context, request, owner)
  if (!mayHavePasskeys(context, input)) return doneAt(context, request, 'security', undefined)
  return addPage(context, request, owner, undefined)
}

/** Adds the passkey that the browser made, in this session, which must still be there when it is stored (threats.md PK-02). */
export async function addPasskey(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { user } = owner
  const browserHash = openBrowser(context, request)
  if (browserHash === undefined) return errorPage('browser_differs', { user: user.id })
  const input = await ownerInput(context, request, owner)
  if (!mayHavePasskeys(context, input)) return doneAt(context, request, 'security', undefined)
  await countChange(context, owner, 'sign-in-methods')
  const made = await verifyNewPasskey(context, request, ceremonyOf(owner, browserHash), user)
  if (made.kind === 'refused') {
    const event = { ...formRefusal('passkey-invalid', { user: user.id }), description: checkOf(made) }
    return { ...(await addPage(context, request, owner, 'passkey-invalid')), event }
  }
  const reason = { kind: 'session', session: await changingSession(context, owner) } as const
  switch (
    await context.store.addPasskey({
      passkey: made.passkey,
      reason,
      mails: noticesOf(context, user, 'passkey-added', request),
    })
  ) {
    case 'added':
      return {
        ...doneAt(context, request, 'security', 'passkey-added'),
        event: { event: 'passkey.added', user: user.id },
      }
    case 'taken':
      return addPage(context, request, owner, 'passkey-taken')
    case 'too-many':
      return addPage(context, request, owner, 'passkeys-full')
    case 'refused':
      return doneAt(context, request, 'security', undefined)
  }
}

/** Asks before a passkey is removed. One that stays, or that the user does not have, leads to the sign-in methods. */
export async function askToRemovePasskey(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { passkey } = await findRemovable(context, request, owner)
  if (passkey === undefined) return doneAt(context, request, 'security', undefined)
  return {
    kind: 'page',
    status: 200,
    page: {
      kind: 'account-remove-passkey',
      frame: await frameOf(context, request, owner),
      passkey: viewPasskey(passkey, context.clock()),
      hidden: { passkey: passkey.id },
    },
  }
}

/**
 * Removes a passkey, and ends the other sessions of the user. One method always remains. The answer is the page itself, because only this
 * request knows that the passkey was removed, and what its browser may forget. Reloading it repeats a form that removes nothing.
 */
export async function removePasskey(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { user } = owner
  const { passkey, input } = await findRemovable(context, request, owner)
  if (passkey === undefined) return doneAt(context, request, 'security', undefined)
  await countChange(context, owner, 'sign-in-methods')
  const session = await changingSession(context, owner)
  const passwordCounts = countsPassword(context, input)
  const by = { kind: 'user', session, passwordCounts, factors: otherFactors(context, input, passkey.id) } as const
  const mails = noticesOf(context, user, 'passkey-removed', request)
  const outcome = await context.store.removePasskey({ userId: user.id, id: passkey.id, by, mails })
  if (outcome !== 'removed') return doneAt(context, request, 'security', undefined)
  const done = { notice: 'passkey-removed', forgotten: forgetRemoved(context, passkey) } as const
  return {
    ...(await securityPage(context, request, owner, done)),
    event: { event: 'passkey.removed', user: user.id },
  }
}

async function addPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  problem: PasskeyProblem | undefined,
): Promise<Reply> {
  const { user } = owner
  const browser = browserOf(context, request)
  const passkeys = await context.store.listPasskeys(user.id)
  const ceremony = askToMake(context, ceremonyOf(owner, browser.hash), user, passkeys)
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    cookies: browser.cookies,
    ...(problem === undefined ? {} : { event: formRefusal(problem, { user: user.id }) }),
    page: {
      kind: 'account-add-passkey',
      frame: await frameOf(context, request, owner),
      ceremony,
      problem,
    },
  }
}

/** The root, because the session is another one after the user has confirmed the own identity in another tab. */
function ceremonyOf({ user, session }: SignedIn, browserHash: SecretHash): Ceremony {
  return { browserHash, purpose: 'add', bound: [user.id, session.rootId] }
}

/** The passkey that the request names, if it is one of the user that can be removed (threats.md PK-01). */
async function findRemovable(
  context: Context,
  request: Request,
  owner: SignedIn,
): Promise<{ readonly passkey: PasskeyRecord | undefined; readonly input: OwnerInput }> {
  const input = await ownerInput(context, request, owner)
  const id = request.params.get('passkey')
  const passkey = input.passkeys.find(
    (one) => one.id === id && findPasskeyStayReason(context, input, one) === undefined,
  )
  return { passkey: mayHavePasskeys(context, input) ? passkey : undefined, input }
}
