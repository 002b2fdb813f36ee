import * as z from 'zod'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { Input } from '../../ports/operations/index.ts'
import type { LinkPurpose, LinkRecord, UserRecord } from '../../ports/records/user.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { firstSignInOf, nameUser } from '../../protocol/sign-in/account.ts'
import { linkAddress, mintLink } from '../../protocol/sign-in/link.ts'
import { isMailAddress } from '../../protocol/sign-in/email-address.ts'
import { parseAdminCredentialId } from '../../protocol/ids.ts'
import { conflict } from '../admin-error.ts'
import { COMMAND_LINE, roleOutlivesTrial } from '../administrators.ts'
import { ISO } from '../../base/iso.ts'
import type { Administrator } from '../task.ts'
import { languageOf, mailLink } from '../../users/mails.ts'
import type { FactorNeeds } from '../../users/factors.ts'
import { findLinkMethods, hasLinkMethod } from '../../users/link-methods.ts'
import { refuseRouted, requireUser, withoutPasswords } from './user.ts'

/** The answer to the creation of a link. */
export const LINK_DOCUMENT = z
  .object({
    user_id: z.string(),
    email: z.string().nullable(),
    purpose: z
      .enum(['invitation', 'reset'])
      .describe(
        'invitation: the user has no password and never signed in. reset: using the link ends all sessions and grants.',
      ),
    link: z
      .string()
      .nullable()
      .describe('The address of the link, for the user only. It is shown once. null: it was mailed.'),
    expires_at: ISO,
    methods: z
      .array(z.string())
      .describe(
        'What its page offers now: "password", "passkey", or the ids of providers. A provider that is required for the address is the only one.',
      ),
  })
  .meta({ id: 'Link' })

export type LinkDocument = z.output<typeof LINK_DOCUMENT>

const DAY_MS = 24 * 60 * 60 * 1000
/** An invitation opens an account that is still empty, so it may wait longer than the reset of one that is in use. */
const LIFETIME_MS: Readonly<Record<LinkPurpose, number>> = { invitation: 7 * DAY_MS, reset: DAY_MS }

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

/** Who makes a link, and the beginning of the role of its user that was examined (threats.md LNK-07); undefined: none. */
interface LinkOrder extends Pick<Administrator, 'actor' | 'holder' | 'isLoopbackOnly'> {
  readonly roleSince?: EpochMs | undefined
}

type Needs = Pick<Context, 'clock' | 'random' | 'secrets'> &
  FactorNeeds &
  StoreNeeds<'createLink' | 'findRole' | 'findUser' | 'findUserByEmail' | 'listMemberships' | 'listProviders'>

/**
 * Creates a link with which the user sets a password, or adds a provider or a passkey, once. An earlier link of the user stops working. It is an invitation if the
 * user has no password and never signed in. One that a user with a role made works while that role goes on (threats.md LNK-08), and one that was
 * made with credentials until these are revoked (LNK-09).
 *
 * @throws AdminError when there is no such user, the user is disabled or has no address, or its page could offer nothing, or the user has
 * another role than that of `roleSince`, or one that counts longer than that of the administrator
 */
export async function createLink(context: Needs, who: string, order: LinkOrder = COMMAND_LINE): Promise<CreatedLink> {
  const link = await prepareLink(context, who, { isMailed: false })
  const { token, hash } = mintLink(context.secrets, link.user.id, context.random)
  await storeLink(context, order, link, { ...recordOf(context, order, link), hash, isMailed: false, mails: [] })
  return { ...link, address: linkAddress(context.issuer, token) }
}

/**
 * The same for a link that only the mailbox of the user gets. Its use verifies the address. Where the account is asked for a second factor,
 * it replaces none (threats.md ACC-20).
 *
 * @throws AdminError also when the server sends no mail, or none to such an address
 */
export async function sendLink(
  context: Needs & Pick<Context, 'mail'>,
  who: string,
  order: LinkOrder = COMMAND_LINE,
): Promise<NewLink> {
  if (context.mail === undefined) {
    throw conflict('The server sends no mail. Set GRANTOR_SMTP_URL and GRANTOR_MAIL_FROM, or leave out --send.')
  }
  const link = await prepareLink(context, who, { isMailed: true })
  const { email: address } = link.user
  if (!isMailAddress(address)) throw conflict(`No mail can be sent to ${address}. Leave out --send.`)
  const to = { address, agent: undefined, language: languageOf(link.user) }
  await storeLink(context, order, link, mailLink(context, recordOf(context, order, link), to))
  return link
}

async function prepareLink(given: Needs, who: string, link: Pick<LinkRecord, 'isMailed'>): Promise<NewLink> {
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
  context: Needs,
  user: UserRecord,
  { isMailed }: Pick<LinkRecord, 'isMailed'>,
): Promise<never> {
  if (isMailed && hasLinkMethod(await findLinkMethods(context, user, { isMailed: false })))
    throw conflict(
      `A mail proves the mailbox alone, so its link adds nothing to an account that confirms with a second factor. Leave out --send, and hand the link to ${nameUser(user)}.`,
    )
  refuseRouted(await context.providers(), user.email)
  if ((await context.store.findSecondFactor(user.id)) !== undefined)
    throw conflict(
      `A link adds nothing that would sign in without the authenticator app of ${nameUser(user)}. See "grantor user reset-second-factor".`,
    )
  throw withoutPasswords(context.settings)
}

function recordOf(
  { clock }: Pick<Context, 'clock'>,
  { actor, holder: madeBy }: LinkOrder,
  { user, purpose, expiresAt }: NewLink,
) {
  const madeWith = madeBy === undefined ? parseAdminCredentialId(actor) : undefined
  return { userId: user.id, origin: 'operator', purpose, madeBy, madeWith, createdAt: clock(), expiresAt } as const
}

async function storeLink(
  { store }: Needs,
  { isLoopbackOnly: isTrial, roleSince }: LinkOrder,
  { user }: NewLink,
  link: Input<'createLink'>,
): Promise<void> {
  const outcome = await store.createLink({ ...link, isTrial, roleSince })
  if (outcome === 'created') return
  if (outcome === 'role-lasts') throw roleOutlivesTrial()
  throw conflict(
    `${user.email} is disabled, or was changed meanwhile. See "grantor user show" and "grantor user enable".`,
  )
}
