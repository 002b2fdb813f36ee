import type { PasskeyProblem, PasswordProblem } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import { shortestPassword } from '../../protocol/sign-in/password-rules.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { IdentityRecord } from '../../ports/records/provider.ts'
import type { LinkRecord, UserRecord } from '../../ports/records/user.ts'
import type { KeptMethod } from '../../ports/operations/user.ts'
import type { PasskeyRecord } from '../../ports/records/passkey.ts'
import { APPLICATION } from '../../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../../base/brand.ts'
import { originOf } from '../../protocol/audit/origin.ts'
import { openOfUser } from '../../protocol/sign-in/link.ts'
import { sameText, type SecretHash } from '../../protocol/secrets.ts'
import { isLiveSince } from '../../tokens/invalid-principal.ts'
import { browserOf, isCrossSite, openBrowser } from '../authorization/interaction.ts'
import { findSignedIn, viewAccount } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { findAsking, findJourneyEnd } from '../journey.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { markOf, viewIdentity, viewPasskey } from '../sign-in/methods.ts'
import { askToMake, checkOf, verifyNewPasskey, type Ceremony } from '../sign-in/passkey/ceremony.ts'
import { findAddress, leave } from '../sign-in/provider/depart.ts'
import { findConsole } from './frame.ts'
import { readNewPassword } from './new-password.ts'
import { passwordBuckets } from '../../requests/attempt-bucket.ts'
import { findInvitingOrganization } from '../../users/inviting-organization.ts'
import { noticesOf } from '../../users/mails.ts'
import { findLinkMethods, hasLinkMethod, type LinkMethods } from '../../users/link-methods.ts'
import { isMakerThere } from '../../users/role.ts'

interface OpenLink extends LinkMethods {
  readonly link: LinkRecord
  readonly user: UserRecord
  readonly token: string
}

/**
 * Shows the form of a link that an operator handed over. Opening the link does not use it up, because programs that scan messages open
 * links too. Nothing of it is put into a cookie, but for the one that
 * a passkey is made for: in this browser another user may be signing in.
 *
 * An account with identities or passkeys may have one of a thief, so its user is first asked which of them to keep (threats.md LNK-01).
 */
export async function showLink(context: Context, request: Request): Promise<Reply> {
  const open = await findOpenLink(context, request)
  if ('kind' in open) return open
  const methods = await listMethods(context, open)
  return methods.length === 0 ? linkPage(context, request, open, [], {}) : methodsPage(context, request, open, methods)
}

/**
 * Sets the password of the link's user, and uses the link up; or sends the browser to a provider. The password does not sign the user
 * in: the link proves only that the user received it. The user's sessions and grants end, and the identities that the user did not
 * confirm, because the link may have been requested after a theft. A passkey is added in the same way, and removes the password. A form
 * with none of them confirms identities and passkeys alone.
 */
export async function useLink(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const open = await findOpenLink(context, request)
  if ('kind' in open) return open
  const { link, user } = open
  const keep = await readKept(context, request, open)
  const provider = request.params.get('provider')
  if (provider !== undefined) return acceptAtProvider(context, request, open, provider, keep)
  if (request.params.names.includes('credential')) return acceptByPasskey(context, request, open, keep)
  if (!request.params.names.includes('password')) return linkPage(context, request, open, keep, {})
  if (!open.hasPassword) return errorPage('link_without_method', { user: user.id })
  const read = readNewPassword(context, request.params, user)
  if ('problem' in read) return linkPage(context, request, open, keep, { password: read.problem })
  const passwordHash = await context.passwords.hash(read.password, request.network)
  const now = context.clockCheck.now()
  const browser = browserOf(context, request)
  const mails = noticesOf(context, user, 'password-changed', request)
  const buckets = user.email === undefined ? [] : passwordBuckets(context, user.email, [browser.hash])
  const outcome = await context.store.useLink({
    userId: user.id,
    hash: link.hash,
    passwordHash,
    keep,
    isSecondStepRequired: context.settings.secondFactor === 'required',
    browserHash: browser.hash,
    origin: originOf(request.agent, request.callerNetwork),
    buckets,
    now,
    mails,
  })
  if (outcome === 'unknown') return unusable(context, request, open)
  for (const name of buckets) context.spentBuckets.delete(name)
  return { ...(await usedPage(context, request, open, 'password')), cookies: browser.cookies }
}

/** Adds the passkey that the browser made, instead of the password, and uses the link up. No session starts. */
async function acceptByPasskey(
  context: Context,
  request: Request,
  open: OpenLink,
  keep: readonly KeptMethod[],
): Promise<Reply> {
  const { link, user } = open
  const browserHash = openBrowser(context, request)
  if (browserHash === undefined) return errorPage('browser_differs', { user: user.id })
  if (!open.hasPasskey) return errorPage('link_without_method', { user: user.id })
  const made = await verifyNewPasskey(context, request, ceremonyOf(open, browserHash), user)
  if (made.kind === 'refused') {
    const event = { ...formRefusal('passkey-invalid', { user: user.id }), description: checkOf(made) }
    return { ...(await linkPage(context, request, open, keep, { passkey: 'passkey-invalid' })), event }
  }
  const isSecondStepRequired = context.settings.secondFactor === 'required'
  const reason = { kind: 'link', hash: link.hash, keep, isSecondStepRequired, now: context.clockCheck.now() } as const
  switch (
    await context.store.addPasskey({
      passkey: made.passkey,
      reason,
      mails: noticesOf(context, user, 'passkey-added', request),
    })
  ) {
    case 'added':
      return usedPage(context, request, open, 'passkey')
    case 'taken':
      return linkPage(context, request, open, keep, { passkey: 'passkey-taken' })
    case 'too-many':
      return linkPage(context, request, open, keep, { passkey: 'passkeys-full' })
    case 'refused':
      return unusable(context, request, open)
  }
}

/** A link makes a passkey for its own user only, in this browser. */
function ceremonyOf({ link, user }: OpenLink, browserHash: SecretHash): Ceremony {
  return { browserHash, purpose: 'add', bound: [user.id, link.hash] }
}

async function usedPage(
  context: Context,
  request: Request,
  { link, user: { id } }: Pick<OpenLink, 'link' | 'user'>,
  method: 'password' | 'passkey',
): Promise<Extract<Reply, { readonly kind: 'page' }>> {
  const accountUri = pageAddress(context.issuer, PATHS.account, { uiLocales: request.uiLocales })
  const [product, consoleUri] = await Promise.all([findJourneyEnd(context, request, link), findConsole(context, id)])
  return {
    kind: 'page',
    status: 200,
    page: { kind: 'account-link-used', method, product, accountUri, consoleUri },
    event: { event: 'link.used', user: id },
  }
}

/** What is known of a link that no longer works. */
interface Unusable {
  /** The user of a token that this server made. */
  readonly user?: UserRecord | undefined
  /** undefined: it was used or replaced. */
  readonly link?: LinkRecord | undefined
}

/**
 * The page leads to the form that mails another link, which answers the same for each address. It is not offered to a user who would get none:
 * the address was never verified.
 */
async function unusable(context: Context, request: Request, { user, link }: Unusable): Promise<Reply> {
  const { issuer } = context
  const { uiLocales } = request
  const isOffered = context.mail !== undefined && (user === undefined || user.emailVerifiedAt !== undefined)
  const refused = errorPage('link_unusable', user === undefined ? {} : { user: user.id })
  return {
    ...refused,
    // Without the token, which is a secret: the address without one shows the same.
    reopenedWith: {},
    page: {
      ...refused.page,
      accountUri: pageAddress(issuer, PATHS.account, { uiLocales }),
      product: link && (await findJourneyEnd(context, request, link)),
      ...(isOffered && { newLinkUri: pageAddress(issuer, PATHS.forgot, { uiLocales }) }),
    },
  }
}

/** Finds the link of the token in the request. Returns an error page if the user can use it no longer. */
async function findOpenLink(context: Context, request: Request): Promise<OpenLink | Reply> {
  const token = request.params.get('token') ?? ''
  const opened = openOfUser(context.secrets, 'link', token)
  if (opened === undefined) return unusable(context, request, {})
  const { userId } = opened
  const [links, user] = await Promise.all([context.store.listLinks(userId), context.store.findUser(userId)])
  const link = links.find(({ hash }) => sameText(hash, opened.hash))
  if (link === undefined || link.expiresAt <= context.clockCheck.now())
    return unusable(context, request, { user, link })
  if (!isLiveSince(user, link.createdAt) || !(await isMakerThere(context, link)))
    return unusable(context, request, { user, link })
  const methods = await findLinkMethods(context, user, link)
  return hasLinkMethod(methods)
    ? { ...methods, link, user, token }
    : errorPage('link_without_method', { user: user.id })
}

/** Sends the browser to a provider, whose account becomes a sign-in method of the link's user. The link is used up at the return. */
async function acceptAtProvider(
  context: Context,
  request: Request,
  { link, user, providers }: OpenLink,
  id: string,
  keep: readonly KeptMethod[],
): Promise<Reply> {
  const provider = providers.find((one) => one.id === id)
  if (provider === undefined) return errorPage('form_field_malformed', { user: user.id })
  const browser = browserOf(context, request)
  const { uiLocales } = request
  const asking = await findAsking(context, request, link)
  const target =
    asking === undefined
      ? ({ purpose: 'account', page: 'overview', browserHash: browser.hash, uiLocales } as const)
      : ({ purpose: 'authorization', addsFactor: false, ...asking } as const)
  const purpose = { kind: 'link', userId: user.id, hash: link.hash, keep } as const
  const signedIn = await findSignedIn(context, request.cookies)
  const location = await findAddress(context, request, {
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
  request: Request,
  open: OpenLink,
  keep: readonly KeptMethod[],
  problems: { readonly password?: PasswordProblem; readonly passkey?: PasskeyProblem },
): Promise<Reply> {
  const { link, user, token, hasPassword, hasPasskey, providers } = open
  const problem = problems.password ?? problems.passkey
  const browser = browserOf(context, request)
  // One that is not kept is no obstacle: the authenticator of the person makes another one in its place.
  const passkeys = hasPasskey ? await context.store.listPasskeys(user.id) : []
  const kept = passkeys.filter(({ id }) => keep.includes(id))
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    ...(hasPasskey ? { cookies: browser.cookies } : {}),
    ...(problem === undefined ? {} : { event: formRefusal(problem, { user: user.id }) }),
    page: {
      kind: 'account-link',
      purpose: link.purpose,
      organization: link.purpose === 'invitation' ? await findInvitingOrganization(context, user.id) : undefined,
      action: pageAddress(context.issuer, PATHS.accountLink, { uiLocales: request.uiLocales }),
      hidden: { token, ...(keep.length === 0 ? {} : { keep: keep.join(' ') }) },
      account: viewAccount(user),
      passkey: hasPasskey
        ? { ceremony: askToMake(context, ceremonyOf(open, browser.hash), user, kept), problem: problems.passkey }
        : undefined,
      username: hasPassword ? (user.email ?? '') : undefined,
      providers: providers.map((one) => ({ id: one.id, name: one.settings.name, mark: markOf(one) })),
      problem: problems.password,
      shortestPassword: shortestPassword(context.settings),
    },
  }
}

/**
 * The most sign-in methods of an account that the page lists, those that were used last: the address at a provider has the keys of those
 * that are kept. Others are not kept.
 */
const LISTED = 16

/** What can sign in beside the password. */
type ListedMethod =
  | { readonly key: KeptMethod; readonly usedAt: EpochMs; readonly identity: IdentityRecord }
  | { readonly key: KeptMethod; readonly usedAt: EpochMs; readonly passkey: PasskeyRecord }

/**
 * The identities and passkeys that could sign in after the link was used, if they were kept. The identity at the operator's application is
 * one of them: it may be of a stranger who gave the application the address of the user, and signs in when sign-in is delegated again
 * (threats.md LNK-05). Those that stay in any case are not listed.
 */
async function listMethods(
  { store }: Context,
  { user, keepsPasskeys, keptIdentities }: OpenLink,
): Promise<readonly ListedMethod[]> {
  const [all, passkeys] = await Promise.all([
    store.listIdentities(user.id),
    keepsPasskeys ? [] : store.listPasskeys(user.id),
  ])
  const identities = all.filter(({ key }) => keptIdentities.every((one) => one.key !== key))
  const methods: readonly ListedMethod[] = [
    ...identities.map((identity) => ({ key: identity.key, usedAt: identity.usedAt, identity })),
    ...passkeys.map((passkey) => ({ key: passkey.id, usedAt: passkey.usedAt ?? passkey.createdAt, passkey })),
  ]
  return methods.toSorted((one, other) => other.usedAt - one.usedAt).slice(0, LISTED)
}

/** The methods that the person confirmed, on the page that lists them or on one that followed, and the identities that stay. */
async function readKept(context: Context, { params }: Request, open: OpenLink): Promise<readonly KeptMethod[]> {
  const named = new Set<string>(params.all('keep').flatMap((value) => value.split(' ')))
  const confirmed = (await listMethods(context, open)).map(({ key }) => key).filter((key) => named.has(key))
  return [...open.keptIdentities.map(({ key }) => key), ...confirmed]
}

async function methodsPage(
  { clock, issuer, providers }: Context,
  { uiLocales }: Request,
  { user, token }: OpenLink,
  methods: readonly ListedMethod[],
): Promise<Reply> {
  const known = await providers()
  return {
    kind: 'page',
    status: 200,
    page: {
      kind: 'account-link-methods',
      action: pageAddress(issuer, PATHS.accountLink, { uiLocales }),
      hidden: { token },
      account: viewAccount(user),
      methods: methods.map((method) => {
        const { key } = method
        if ('passkey' in method) return { kind: 'passkey', key, ...viewPasskey(method.passkey, clock()) }
        const isOfApplication = method.identity.providerId === APPLICATION
        return { kind: 'identity', key, isOfApplication, ...viewIdentity(method.identity, known, clock()) }
      }),
    },
  }
}
