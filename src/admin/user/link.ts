import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { Outcome } from '../../ports/operations/index.ts'
import type { LinkPurpose, LinkRecord, UserRecord } from '../../ports/records/user.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { firstSignInOf, nameUser } from '../../protocol/sign-in/account.ts'
import { linkAddress, mintLink } from '../../protocol/sign-in/link.ts'
import { isMailAddress } from '../../protocol/sign-in/email-address.ts'
import { parseAdminCredentialId, type ClientId, type UserId } from '../../protocol/ids.ts'
import { productOf } from '../../clients/product.ts'
import { conflict, conflictIn } from '../admin-error.ts'
import { COMMAND_LINE, requireReach } from '../administrators.ts'
import { ISO, iso } from '../../base/iso.ts'
import { requireClient } from '../client/client.ts'
import { CLIENT_ID, USER_ID } from '../fields.ts'
import { defineTask, type Administrator, type Task, type TaskContext } from '../task.ts'
import { attemptBucket } from '../../requests/attempt-bucket.ts'
import { languageOf, MAIL_AGAIN_MS, mailLink } from '../../users/mails.ts'
import { findLinkMethods, hasLinkMethod } from '../../users/link-methods.ts'
import { refuseRouted, requireUser, withoutPasswords } from './user.ts'

/** The answer to a mail with a link, which has no link: only the mailbox gets it. */
const SENT_LINK_DOCUMENT = z
  .object({
    user_id: z.string(),
    email: z.string(),
    purpose: z
      .enum(['invitation', 'reset'])
      .describe(
        'invitation: the user has no password and never signed in. reset: using the link ends all sessions and grants.',
      ),
    expires_at: ISO,
    methods: z
      .array(z.string())
      .describe(
        'What its page offers now: "password", "passkey", or the ids of providers. A provider that is required for the address is the only one.',
      ),
  })
  .meta({ id: 'SentLink' })

/** The answer to the creation of a link. */
const LINK_DOCUMENT = SENT_LINK_DOCUMENT.extend({
  link: z.string().describe('The address of the link, for the user only. It is shown once.'),
}).meta({ id: 'Link' })

export type SentLinkDocument = z.output<typeof SENT_LINK_DOCUMENT>
export type LinkDocument = z.output<typeof LINK_DOCUMENT>

const DAY_MS = 24 * 60 * 60 * 1000
/** An invitation opens an account that is still empty, so it may wait longer than the reset of one that is in use. */
const LIFETIME_MS: Readonly<Record<LinkPurpose, number>> = { invitation: 7 * DAY_MS, reset: DAY_MS }
/** Mails with links that administrators cause for one user in an hour, as many as strangers can. */
const MAILS_TO_USER = 5
const HOUR_MS = 60 * 60 * 1000

/** What was made for a user, without the link. */
interface NewLink {
  readonly user: UserRecord & { readonly email: string }
  readonly purpose: LinkPurpose
  readonly expiresAt: EpochMs
  /** What its page offers now. */
  readonly methods: readonly string[]
}

interface CreatedLink extends NewLink {
  /** The address that the operator hands over. It is not stored, and cannot be shown again. */
  readonly address: string
}

/** The client to which the user of a link is led afterwards. */
const LED_CLIENT = CLIENT_ID.describe(
  'The client to which the user is led afterwards: it needs initiate_login_uri or client_uri, and is verified, or an administrator created it. Absent: the user is led to GRANTOR_PRODUCT_URL.',
).meta({
  title: 'Then lead to',
  help: 'The client to which the user is led afterwards: one that is verified or created by an administrator, and has a website or a page that starts the sign-in. Leave empty for the usual page.',
})

/** Who makes a link, and the beginning of the role of its user that was examined (threats.md LNK-07); undefined: none. */
interface LinkOrder extends Pick<Administrator, 'actor' | 'holder' | 'isLoopbackOnly'> {
  readonly roleSince?: EpochMs | undefined
  /** To which the user is led afterwards. */
  readonly clientId?: ClientId | undefined
}

const PATH = '/admin/v1/users/{user_id}'
const INPUT = z.object({ user_id: USER_ID, client_id: LED_CLIENT.optional() })

/** The tasks of links. */
export const LINK_TASKS: readonly Task[] = [
  defineTask({
    name: 'user.create-link',
    method: 'POST',
    path: `${PATH}/link`,
    access: 'users',
    touches: 'account',
    gives: true,
    creates: true,
    summary:
      'Create a link with which a user sets a password, or adds a passkey or a provider, as the address allows, once. An earlier link of the user stops working.',
    secret: { member: 'link' },
    input: INPUT,
    output: LINK_DOCUMENT,
    async run(context, { user_id, client_id }) {
      const order = await orderFor(context, user_id, client_id)
      const { address: link, ...made } = await createLink(context, user_id, order)
      return { ...describeLink(made), link }
    },
  }),
  defineTask({
    name: 'user.send-link',
    method: 'POST',
    path: `${PATH}/send-link`,
    access: 'support',
    touches: 'account',
    needsMail: true,
    gives: true,
    summary:
      'Mail the user a link, as user.create-link makes it, and show it to no administrator. Its use verifies the address, and replaces no second factor that the account confirms with. At most one mail in a minute, and five in an hour.',
    input: INPUT,
    output: SENT_LINK_DOCUMENT,
    async run(context, { user_id, client_id }) {
      await requireReach(context, user_id, 'account')
      return describeLink(await sendLink(context, user_id, await orderFor(context, user_id, client_id)))
    },
  }),
]

/** The order of an administrator, with the role of the user: the store refuses a link for one that came later, of which the administrator does not know (threats.md LNK-07). */
async function orderFor(context: TaskContext, userId: UserId, clientId: ClientId | undefined): Promise<LinkOrder> {
  if (clientId !== undefined) await requireProduct(context, clientId)
  return { ...context.administrator, roleSince: (await context.store.findRole(userId))?.setAt, clientId }
}

/** @throws AdminError when there is no such client, or no page would lead to it */
async function requireProduct(context: TaskContext, id: ClientId): Promise<void> {
  if ((await productOf(context, await requireClient(context, id))) !== undefined) return
  throw conflictIn(
    'client_id',
    'No page leads to this client: it needs initiate_login_uri or client_uri with https, and must be verified and enabled. See "grantor client update".',
    id,
  )
}

function describeLink({ user, purpose, expiresAt, methods }: NewLink): SentLinkDocument {
  return { user_id: user.id, email: user.email, purpose, expires_at: iso(expiresAt), methods: [...methods] }
}

/**
 * Creates a link with which the user sets a password, or adds a provider or a passkey, once. An earlier link of the user stops working. It is an invitation if the
 * user has no password and never signed in. One that a user with a role made works while that role goes on (threats.md LNK-08), and one that was
 * made with credentials until these are revoked (LNK-09).
 *
 * @throws AdminError when there is no such user, the user is disabled or has no address, or its page could offer nothing, or the user has
 * another role than that of `roleSince`, or one that counts longer than that of the administrator
 */
export async function createLink(context: Context, who: string, order: LinkOrder = COMMAND_LINE): Promise<CreatedLink> {
  const link = await prepareLink(context, who, { isMailed: false })
  const { token, hash } = mintLink(context.secrets, link.user.id, context.random)
  const record = { ...recordOf(context, order, link), hash, isMailed: false, mails: [] }
  requireStored(await context.store.createLink({ ...record, roleSince: order.roleSince }), link)
  return { ...link, address: linkAddress(context.issuer, token) }
}

/**
 * The same for a link that only the mailbox of the user gets. Its use verifies the address. Where the account is asked for a second factor,
 * it replaces none (threats.md ACC-20). One leaves in a minute, and five in an hour, so that no administrator fills a mailbox (ACC-21).
 *
 * @throws AdminError also when the server sends no mail, or none to such an address, or has sent one lately
 */
export async function sendLink(context: Context, who: string, order: LinkOrder = COMMAND_LINE): Promise<NewLink> {
  const link = await prepareLink(context, who, { isMailed: true })
  if (context.mail === undefined) {
    throw conflict(
      'The server sends no mail. Set GRANTOR_SMTP_URL and GRANTOR_MAIL_FROM, or hand over a link: "grantor user create-link".',
    )
  }
  const { email: address } = link.user
  if (!isMailAddress(address))
    throw conflict(`No mail can be sent to ${address}. Hand over a link: "grantor user create-link".`)
  const to = { address, agent: undefined, language: languageOf(link.user) }
  const record = mailLink(context, recordOf(context, order, link), to)
  const { createdAt: now } = record
  const hit = { bucket: attemptBucket(context, 'mail', 'operator', link.user.id), now, windowMs: HOUR_MS, by: 1 }
  const { count, windowEndsAt } = await context.store.countHit(hit)
  const isWithin = count <= MAILS_TO_USER
  const limited = { ...record, roleSince: order.roleSince, unlessSentSince: after(now, -MAIL_AGAIN_MS) }
  const outcome = isWithin ? await context.store.createLink(limited) : 'too-many'
  // What sends nothing uses nothing up.
  if (outcome !== 'created') await context.store.forgiveHit(hit)
  if (outcome === 'too-many')
    throw conflict(
      `${MAILS_TO_USER} mails with a link went to ${address} lately. The next one can go at ${iso(windowEndsAt)}.`,
    )
  requireStored(outcome, link)
  return link
}

async function prepareLink(given: Context, who: string, link: Pick<LinkRecord, 'isMailed'>): Promise<NewLink> {
  // An administrator sees a change of the providers at once.
  const context = { ...given, providers: () => given.store.listProviders() }
  const user = await requireUser(context, who)
  const { email } = user
  if (email === undefined) {
    throw conflict(`The user ${user.id} has no e-mail address to sign in with. See "grantor user set-email".`)
  }
  const found = await findLinkMethods(context, user, link)
  if (!hasLinkMethod(found)) await refuseUseless(context, user, link)
  const { hasPassword, hasPasskey, providers } = found
  const methods = [
    ...(hasPassword ? ['password'] : []),
    ...(hasPasskey ? ['passkey'] : []),
    ...providers.map(({ id }) => id),
  ]
  const purpose = user.passwordHash === undefined && firstSignInOf(user) === undefined ? 'invitation' : 'reset'
  return { user: { ...user, email }, purpose, methods, expiresAt: after(context.clock(), LIFETIME_MS[purpose]) }
}

/** Says why the page of a link could offer nothing. @throws AdminError always */
async function refuseUseless(
  context: Context,
  user: UserRecord,
  { isMailed }: Pick<LinkRecord, 'isMailed'>,
): Promise<never> {
  if (isMailed && hasLinkMethod(await findLinkMethods(context, user, { isMailed: false })))
    throw conflict(
      `A mail proves the mailbox alone, so its link adds nothing to an account that confirms with a second factor. Hand a link to ${nameUser(user)}: "grantor user create-link".`,
    )
  refuseRouted(await context.providers(), user.email)
  if ((await context.store.findSecondFactor(user.id)) !== undefined)
    throw conflict(
      `A link adds nothing that would sign in without the authenticator app of ${nameUser(user)}. See "grantor user reset-second-factor".`,
    )
  throw withoutPasswords(context.settings)
}

function recordOf(
  { clock }: Context,
  { actor, holder: madeBy, clientId }: LinkOrder,
  { user, purpose, expiresAt }: NewLink,
) {
  const madeWith = madeBy === undefined ? parseAdminCredentialId(actor) : undefined
  const led = { clientId, authorizationId: undefined }
  return {
    userId: user.id,
    origin: 'operator',
    purpose,
    madeBy,
    madeWith,
    ...led,
    createdAt: clock(),
    expiresAt,
  } as const
}

function requireStored(outcome: Outcome<'createLink'>, { user: { email } }: NewLink): void {
  switch (outcome) {
    case 'created':
      return
    case 'sent-lately':
      throw conflict(`A mail with a link is on its way to ${email}. Another one can follow in a minute.`)
    case 'unknown':
      throw conflict(
        `${email} is disabled, or was changed meanwhile. See "grantor user show" and "grantor user enable".`,
      )
  }
}
