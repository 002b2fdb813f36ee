import * as z from 'zod'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { Input } from '../../ports/operations/index.ts'
import type { LinkPurpose, UserRecord } from '../../ports/records/user.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { firstSignInOf } from '../../protocol/sign-in/account.ts'
import { linkAddress, mintLink } from '../../protocol/sign-in/link.ts'
import { isMailAddress } from '../../protocol/sign-in/mail-address.ts'
import { rpIdOf } from '../../protocol/sign-in/passkey.ts'
import { parseAdminCredentialId } from '../../protocol/ids.ts'
import { conflict } from '../admin-error.ts'
import { COMMAND_LINE, roleOutlivesTrial } from '../administrators.ts'
import { ISO } from '../fields.ts'
import type { Administrator } from '../task.ts'
import { languageOf, mailLink } from '../../users/mails.ts'
import { usableProviders } from '../../users/provider-routing.ts'
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
}

interface CreatedLink extends NewLink {
  /** The address that the operator hands over. It is not stored, and cannot be shown again. */
  readonly address: string
}

/** Who makes a link, and the beginning of the role of its user that was examined (threats.md LNK-07); undefined: none. */
interface LinkOrder extends Pick<Administrator, 'actor' | 'holder' | 'isLoopbackOnly'> {
  readonly roleSince?: EpochMs | undefined
}

type Needs = Pick<Context, 'clock' | 'issuer' | 'random' | 'secrets' | 'settings'> &
  StoreNeeds<'createLink' | 'findUser' | 'findUserByEmail' | 'listProviders'>

/**
 * Creates a link with which the user sets a password, or adds a provider or a passkey, once. An earlier link of the user stops working. It is an invitation if the
 * user has no password and never signed in. One that a user with a role made works while that role goes on (threats.md LNK-08), and one that was
 * made with credentials until these are revoked (LNK-09).
 *
 * @throws AdminError when there is no such user, the user is disabled or has no address, or passwords are off and there is neither a
 * provider nor a host for which browsers make passkeys, or the user has another role than that of `roleSince`, or one that counts longer
 * than that of the administrator
 */
export async function createLink(
  context: Needs,
  who: string,
  { actor, holder: madeBy, isLoopbackOnly: isTrial, roleSince }: LinkOrder = COMMAND_LINE,
): Promise<CreatedLink> {
  const link = await prepareLink(context, who)
  const { token, hash } = mintLink(context.secrets, link.user.id, context.random)
  const madeWith = madeBy === undefined ? parseAdminCredentialId(actor) : undefined
  const record = { ...recordOf(context, link), hash, isMailed: false, madeBy, madeWith, mails: [], isTrial, roleSince }
  await storeLink(context, link, record)
  return { ...link, address: linkAddress(context.issuer, token) }
}

/**
 * The same for a link that only the mailbox of the user gets. Its use verifies the address.
 *
 * @throws AdminError also when the server sends no mail, or none to such an address
 */
export async function sendLink(
  context: Needs & Pick<Context, 'mail'>,
  who: string,
  { isLoopbackOnly: isTrial, roleSince }: Pick<LinkOrder, 'isLoopbackOnly' | 'roleSince'> = COMMAND_LINE,
): Promise<NewLink> {
  if (context.mail === undefined) {
    throw conflict('The server sends no mail. Set GRANTOR_SMTP_URL and GRANTOR_MAIL_FROM, or leave out --send.')
  }
  const link = await prepareLink(context, who)
  const { email: address } = link.user
  if (!isMailAddress(address)) throw conflict(`No mail can be sent to ${address}. Leave out --send.`)
  const to = { address, agent: undefined, language: languageOf(link.user) }
  const mailed = mailLink(context, { ...recordOf(context, link), madeBy: undefined, madeWith: undefined }, to)
  await storeLink(context, link, { ...mailed, isTrial, roleSince })
  return link
}

async function prepareLink(context: Needs, who: string): Promise<NewLink> {
  const user = await requireUser(context, who)
  const { email } = user
  const providers = await context.store.listProviders()
  const hasProvider = usableProviders(context.settings, providers).length > 0
  const hasPasskeys = context.settings.delegate === undefined && rpIdOf(context.issuer) !== undefined
  if (context.settings.passwords === 'off' && !hasProvider && !hasPasskeys) {
    throw withoutPasswords(context.settings)
  }
  if (!hasProvider) refuseRouted(providers, email)
  if (email === undefined) {
    throw conflict(`The user ${user.id} has no e-mail address to sign in with. See "grantor user set-email".`)
  }
  const purpose = user.passwordHash === undefined && firstSignInOf(user) === undefined ? 'invitation' : 'reset'
  return { user: { ...user, email }, purpose, expiresAt: after(context.clock(), LIFETIME_MS[purpose]) }
}

function recordOf({ clock }: Pick<Context, 'clock'>, { user, purpose, expiresAt }: NewLink) {
  return { userId: user.id, origin: 'operator', purpose, createdAt: clock(), expiresAt } as const
}

async function storeLink({ store }: Needs, { user }: NewLink, link: Input<'createLink'>): Promise<void> {
  const outcome = await store.createLink(link)
  if (outcome === 'created') return
  if (outcome === 'role-lasts') throw roleOutlivesTrial()
  throw conflict(
    `${user.email} is disabled, or was changed meanwhile. See "grantor user show" and "grantor user enable".`,
  )
}
