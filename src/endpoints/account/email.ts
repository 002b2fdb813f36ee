import { after } from '../../base/brand.ts'
import type { ChangeEmailPage, ConfirmEmailPage } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import { CODE_TRIES, digestEmailCode, parseEmailCode } from '../../protocol/sign-in/account.ts'
import { normalizeEmail, isMailAddress, type EmailAddress } from '../../protocol/sign-in/email-address.ts'
import { mailCode, noticesOf } from '../../users/mails.ts'
import { tooManyChanges } from '../../protocol/errors.ts'
import { findRequiredProvider } from '../../users/provider-routing.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { changingSession } from '../sign-in/changing-session.ts'
import { countMail, countSentMail } from '../sign-in/throttle.ts'
import { countChange, doneAt, frameOf } from './frame.ts'

const LIFETIME_MS = 15 * 60 * 1000
/** Of what a person typed, the page repeats so much. */
const TYPED_LIMIT = 300

/**
 * Whether a user can change or confirm the own address. Users whose address belongs to a provider cannot: they could leave the provider at
 * which they have to sign in.
 */
export function isEmailEditable(
  { mail }: Context,
  providers: readonly ProviderRecord[],
  email: string | undefined,
): boolean {
  return mail !== undefined && findRequiredProvider(providers, email) === undefined
}

/** Shows the form of an address. It has the own one if that is not verified. */
export async function showChangeEmail(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { email, emailVerifiedAt } = owner.user
  if (!isEmailEditable(context, await context.providers(), email)) return errorPage('mail_off')
  const shown = emailVerifiedAt === undefined ? (email ?? '') : ''
  return changePage(context, request, owner, { email: shown, problem: undefined })
}

/**
 * Mails a code to the address. That another user has the address is known only to a person who then enters the code: all others get
 * the same answer (threats.md ACC-15). An address of a provider is refused at once, as the sign-in page leads each such address there.
 */
export async function askForCode(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { user } = owner
  const providers = await context.providers()
  if (!isEmailEditable(context, providers, user.email)) return errorPage('mail_off', { user: user.id })
  const typed = request.params.get('email') ?? ''
  const address = normalizeEmail(typed)
  const problem = findProblem(user, providers, address)
  if (problem !== undefined) return changePage(context, request, owner, { email: typed.slice(0, TYPED_LIMIT), problem })
  const { agent, language, network } = request
  await countChange(context, owner, 'email')
  for (const count of [
    () => countMail(context, { purpose: 'code', email: address, network }),
    () => countSentMail(context),
  ]) {
    const attempt = await count()
    if (attempt.kind === 'refused') throw tooManyChanges(user.id, 'mails with codes', attempt.retryAfterSeconds)
  }
  const createdAt = context.clockCheck.now()
  const code = { userId: user.id, createdAt, expiresAt: after(createdAt, LIFETIME_MS) }
  const session = await changingSession(context, owner)
  const outcome = await context.store.createEmailCode({
    ...mailCode(context, code, { address, agent, language }),
    session,
  })
  return doneAt(context, request, outcome === 'created' ? 'confirm-email' : 'overview', undefined)
}

function findProblem(
  { email, emailVerifiedAt }: SignedIn['user'],
  providers: readonly ProviderRecord[],
  address: string,
): ChangeEmailPage['problem'] {
  if (!isMailAddress(address)) return { kind: 'email-missing' }
  if (address === email && emailVerifiedAt !== undefined) return { kind: 'email-unchanged' }
  const provider = findRequiredProvider(providers, address)
  return provider === undefined ? undefined : { kind: 'email-of-provider', provider: provider.settings.name }
}

/** Shows the form of the code. The user need not have signed in a moment ago: the code was asked for then, and its mail takes a while. */
export async function showConfirmEmail(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const email = await findOpenAddress(context, owner)
  return email === undefined
    ? doneAt(context, request, 'overview', undefined)
    : confirmPage(context, request, owner, { email, problem: undefined })
}

/** Makes the address the user's, if the code is right. The previous one gets a notice, and the links that were made before end. */
export async function confirmAddress(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { user } = owner
  const shown = (email: string | undefined, problem: ConfirmEmailPage['problem']) =>
    confirmPage(context, request, owner, { email, problem })
  const email = await findOpenAddress(context, owner)
  const providers = await context.providers()
  // The operator may have required a provider since the code was asked for.
  const isRefused =
    findRequiredProvider(providers, email) !== undefined || !isEmailEditable(context, providers, user.email)
  if (email === undefined || isRefused) return shown(undefined, 'email-code-void')
  const code = parseEmailCode(request.params.get('code') ?? '')
  if (code === undefined) return shown(email, 'email-code-wrong')
  const isOwn = email === user.email
  const digest = digestEmailCode(context.secrets, { userId: user.id, email }, code)
  const mails = isOwn ? [] : noticesOf(context, user, 'email-changed', request)
  const now = context.clockCheck.now()
  const session = await changingSession(context, owner)
  const outcome = await context.store.confirmEmail({ userId: user.id, email, digest, session, now, mails })
  switch (outcome) {
    case 'changed':
      return {
        ...doneAt(context, request, 'overview', isOwn ? 'email-confirmed' : 'email-changed'),
        event: { event: 'user.email-changed', user: user.id },
      }
    case 'wrong':
      return shown(email, 'email-code-wrong')
    case 'unknown':
      return shown(undefined, 'email-code-void')
    case 'email-taken':
      return shown(undefined, 'email-taken')
  }
}

/** The address to which the code was mailed that the user can enter. */
async function findOpenAddress({ clock, store }: Context, { user }: SignedIn): Promise<EmailAddress | undefined> {
  const code = await store.findEmailCode(user.id)
  return code === undefined || code.expiresAt <= clock() || code.failures >= CODE_TRIES ? undefined : code.email
}

async function changePage(
  context: Context,
  request: Request,
  owner: SignedIn,
  form: Pick<ChangeEmailPage, 'email' | 'problem'>,
): Promise<Reply> {
  const { id, email } = owner.user
  return {
    kind: 'page',
    status: form.problem === undefined ? 200 : 400,
    ...(form.problem === undefined ? {} : { event: formRefusal(form.problem.kind, { user: id }) }),
    page: {
      kind: 'account-change-email',
      frame: await frameOf(context, request, owner),
      hasEmail: email !== undefined,
      ...form,
    },
  }
}

async function confirmPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  form: Pick<ConfirmEmailPage, 'email' | 'problem'>,
): Promise<Reply> {
  return {
    kind: 'page',
    status: form.problem === undefined ? 200 : 400,
    ...(form.problem === undefined ? {} : { event: formRefusal(form.problem, { user: owner.user.id }) }),
    page: { kind: 'account-confirm-email', frame: await frameOf(context, request, owner), ...form },
  }
}
