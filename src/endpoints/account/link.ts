import type { PasswordProblem } from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { LinkRecord, UserRecord } from '../../ports/records/user.ts'
import { userIdOfLink } from '../../protocol/link.ts'
import { sameText } from '../../protocol/secrets.ts'
import { isLiveSince } from '../../principals/invalid-principal.ts'
import { mayHavePassword, providersFor } from '../../principals/providers.ts'
import { browserOf, isCrossSite } from '../authorization/interaction.ts'
import { findSignedIn, viewAccount } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { findAddress, leave } from '../sign-in/provider/depart.ts'
import { readNewPassword } from './new-password.ts'

interface OpenLink {
  readonly link: LinkRecord
  readonly user: UserRecord
  readonly token: string
}

/**
 * Shows the form of a link that an operator handed over. Opening the link does not use it up, because programs that scan messages open
 * links too. Nothing of it is put into a cookie: in this browser another user may be signing in.
 */
export async function showLink(context: Context, request: Request): Promise<Reply> {
  const open = await findOpenLink(context, request)
  return open === undefined ? errorPage('link_unusable') : linkPage(context, request, open, undefined)
}

/**
 * Sets the password of the link's user, and uses the link up; or sends the browser to a provider. The password does not sign the user
 * in: the link proves only that the user received it. The user's sessions and grants end, because the password may have been reset
 * after a theft.
 */
export async function useLink(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const open = await findOpenLink(context, request)
  if (open === undefined) return errorPage('link_unusable')
  const { link, user } = open
  const provider = request.params.get('provider')
  if (provider !== undefined) return acceptAtProvider(context, request, open, provider)
  if (!mayHavePassword(context.settings, await context.providers(), user.email))
    return errorPage('link_without_method', { user: user.id })
  const read = readNewPassword(request.params, user)
  if ('problem' in read) return linkPage(context, request, open, read.problem)
  const passwordHash = await context.passwords.hash(read.password)
  const now = context.clockCheck.now()
  const outcome = await context.store.useLink({ userId: user.id, hash: link.hash, passwordHash, now })
  if (outcome === 'unknown') return errorPage('link_unusable', { user: user.id })
  const accountUri = pageAddress(context.issuer, PATHS.account, { uiLocales: request.uiLocales })
  return {
    kind: 'page',
    status: 200,
    page: { kind: 'account-link-used', accountUri },
    event: { event: 'link.used', user: user.id },
  }
}

/** Finds the link of the token in the request, if the user can still use it. */
async function findOpenLink(context: Context, { params }: Request): Promise<OpenLink | undefined> {
  const token = params.get('token') ?? ''
  const opened = context.secrets.verify('link', token)
  if (opened === undefined) return undefined
  const userId = userIdOfLink(opened.id)
  const [link, user] = await Promise.all([context.store.findLink(userId), context.store.findUser(userId)])
  if (link === undefined || !sameText(link.hash, opened.hash) || link.expiresAt <= context.clockCheck.now()) {
    return undefined
  }
  return isLiveSince(user, link.createdAt) ? { link, user, token } : undefined
}

/** Sends the browser to a provider, whose account becomes a sign-in method of the link's user. The link is used up at the return. */
async function acceptAtProvider(
  context: Context,
  request: Request,
  { link, user }: OpenLink,
  id: string,
): Promise<Reply> {
  const provider = providersFor(await context.providers(), user.email).find((one) => one.id === id)
  if (provider === undefined) return errorPage('form_field_malformed', { user: user.id })
  const browser = browserOf(context, request)
  const target = {
    purpose: 'account',
    page: 'overview',
    browserHash: browser.hash,
    uiLocales: request.uiLocales,
  } as const
  const purpose = { kind: 'link', userId: user.id, hash: link.hash } as const
  const signedIn = await findSignedIn(context, request.cookies)
  const location = await findAddress(context, {
    provider,
    target,
    purpose,
    email: user.email,
    signedIn,
    isAgain: false,
  })
  if (location === undefined) return errorPage('provider_unreachable', { user: user.id })
  return leave(provider, location, browser.cookies)
}

async function linkPage(
  context: Context,
  { uiLocales }: Request,
  { link, user, token }: OpenLink,
  problem: PasswordProblem | undefined,
): Promise<Reply> {
  const known = await context.providers()
  const hasPassword = mayHavePassword(context.settings, known, user.email)
  const providers = providersFor(known, user.email)
  if (!hasPassword && providers.length === 0) return errorPage('link_without_method', { user: user.id })
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    ...(problem === undefined ? {} : { event: formRefusal(problem, { user: user.id }) }),
    page: {
      kind: 'account-link',
      purpose: link.purpose,
      action: pageAddress(context.issuer, PATHS.accountLink, { uiLocales }),
      hidden: { token },
      account: viewAccount(user),
      username: hasPassword ? (user.email ?? '') : undefined,
      providers: providers.map(({ id, settings }) => ({ id, name: settings.name })),
      problem,
    },
  }
}
