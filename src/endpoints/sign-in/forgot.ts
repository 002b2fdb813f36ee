import { after } from '../../base/brand.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { LinkRecord } from '../../ports/records/user.ts'
import type { UserId } from '../../protocol/ids.ts'
import { ASK_FIELD } from '../../ports/pages/pages.ts'
import { normalizeEmail } from '../../protocol/sign-in/email-address.ts'
import { findRequiredProvider } from '../../users/provider-routing.ts'
import { findLinkMethods, hasLinkMethod } from '../../users/link-methods.ts'
import { MAIL_AGAIN_MS, mailLink } from '../../users/mails.ts'
import { findInteraction, isCrossSite } from '../authorization/interaction.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import type { SignInTarget } from './target.ts'
import { countMail, countSentMail } from './throttle.ts'

/** How long a link is valid for which a stranger can ask. */
const LIFETIME_MS = 60 * 60 * 1000

/** The address of the page for a target. undefined: the server sends no mail. */
export function forgotAddress(context: Context, target: SignInTarget): string | undefined {
  if (context.mail === undefined) return undefined
  const { uiLocales } = target
  const subject = target.purpose === 'account' ? { page: target.page } : { authorization: target.authorization.id }
  return pageAddress(context.issuer, PATHS.forgot, { ...subject, uiLocales })
}

/** Shows the form of an address. */
export async function showForgot(context: Context, request: Request): Promise<Reply> {
  return context.mail === undefined ? errorPage('mail_off') : forgotPage(context, request, '', undefined)
}

/**
 * Answers the same for each address of a domain, and only then looks for its account (threats.md ACC-09). The link goes to the address that is
 * stored, if it is verified, and is made of the issuer (ACC-01, ACC-03). The form of the sign-in page leads to that of the address first.
 */
export async function mailReset(context: Context, request: Request): Promise<Reply> {
  const { mail } = context
  if (mail === undefined) return errorPage('mail_off')
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const [typed = '', ...others] = request.params.all('email')
  if (others.length > 0) return errorPage('parameter_repeated')
  if (request.params.names.includes(ASK_FIELD)) return forgotPage(context, request, typed, undefined)
  const email = normalizeEmail(typed)
  if (email === '') return forgotPage(context, request, typed, 'email-missing')
  mail.afterAnswer(() => sendReset(context, request, email))
  const required = findRequiredProvider(await context.providers(), email)
  const page = {
    kind: 'forgot-done',
    provider: required?.settings.name,
    isOff: required?.disabledAt !== undefined,
    backUri: backAddress(context, request),
  } as const
  return { kind: 'page', status: 200, page }
}

/**
 * Mails a link to the user of the address. Nothing happens beyond the limits, twice in a minute, for a disabled account, an address that was never verified
 * or belongs to a provider, and where the link could add no method. The link of an operator stays valid, because a stranger can ask for
 * this one (threats.md LNK-04). The log says why nothing was sent to an account.
 */
async function sendReset(context: Context, request: Request, email: string): Promise<void> {
  const { store } = context
  const { agent, language, network } = request
  const attempt = await countMail(context, { purpose: 'reset', email, network })
  if (attempt.kind === 'refused') return
  const user = await store.findUserByEmail(email)
  if (user?.email === undefined) return
  const withhold = (reason: string): void => context.record({ event: 'mail.withheld', user: user.id, reason })
  if (user.disabledAt !== undefined) return withhold('user-disabled')
  if (user.emailVerifiedAt === undefined) return withhold('address-unverified')
  if (findRequiredProvider(await context.providers(), user.email) !== undefined) return withhold('provider-required')
  if (!hasLinkMethod(await findLinkMethods(context, user, { isMailed: true }))) return withhold('no-method')
  const sent = await countSentMail(context)
  if (sent.kind === 'refused') return withhold('too-many')
  const createdAt = context.clockCheck.now()
  const link = {
    userId: user.id,
    origin: 'user',
    purpose: 'reset',
    madeBy: undefined,
    madeWith: undefined,
    ...(await findLed(context, request, user.id)),
    createdAt,
  } as const
  const expiresAt = after(createdAt, LIFETIME_MS)
  const mailed = mailLink(context, { ...link, expiresAt }, { address: user.email, agent, language })
  const outcome = await store.createLink({ ...mailed, unlessSentSince: after(createdAt, -MAIL_AGAIN_MS) })
  if (outcome !== 'sent-lately') return
  await Promise.all([attempt.forgive(), sent.forgive()])
  withhold('sent-lately')
}

/**
 * Where the user is led afterwards: to the client of the request in which this browser asked, and otherwise of the link that this one
 * follows. The query of another browser's request names nothing (threats.md LNK-10).
 */
async function findLed(
  context: Context,
  request: Request,
  userId: UserId,
): Promise<Pick<LinkRecord, 'clientId' | 'authorizationId'>> {
  const id = request.query.get('authorization')
  const interaction = id === undefined ? undefined : await findInteraction(context, request, id)
  if (interaction !== undefined && !('kind' in interaction))
    return { clientId: interaction.client.id, authorizationId: interaction.authorization.id }
  const before = (await context.store.listLinks(userId)).toSorted((one, other) => other.createdAt - one.createdAt)
  return { clientId: before.find(({ clientId }) => clientId !== undefined)?.clientId, authorizationId: undefined }
}

function forgotPage(context: Context, request: Request, typed: string, problem: 'email-missing' | undefined): Reply {
  const { authorization, page } = subjectOf(request)
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    ...(problem === undefined ? {} : { event: formRefusal(problem, {}) }),
    // Also where it answers the form of the sign-in page. The address that was typed there is not repeated.
    reopenedWith: { ...(authorization && { authorization }), ...(page && { page }) },
    page: {
      kind: 'forgot',
      action: pageAddress(context.issuer, PATHS.forgot, subjectOf(request)),
      backUri: backAddress(context, request),
      email: typed.slice(0, TYPED_LIMIT),
      problem,
    },
  }
}

/** Of what a person typed, the page repeats so much. */
const TYPED_LIMIT = 300

/** Leads back to the sign-in page, which checks what it is for. */
function backAddress({ issuer }: Context, request: Request): string {
  const subject = subjectOf(request)
  const isKnown = subject.authorization !== undefined || subject.page !== undefined
  return pageAddress(issuer, isKnown ? PATHS.signIn : PATHS.account, subject)
}

function subjectOf({ query, uiLocales }: Request) {
  return { authorization: query.get('authorization'), page: query.get('page'), uiLocales }
}
