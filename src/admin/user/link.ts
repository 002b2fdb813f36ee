import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { LinkPurpose, UserRecord } from '../../ports/records/user.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { linkAddress, mintLink } from '../../protocol/sign-in/link.ts'
import { rpIdOf } from '../../protocol/sign-in/passkey.ts'
import { conflict } from '../admin-error.ts'
import { usableProviders } from '../../users/provider-routing.ts'
import { refuseRouted, requireUser, withoutPasswords } from './user.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** An invitation opens an account that is still empty, so it may wait longer than the reset of one that is in use. */
const LIFETIME_MS: Readonly<Record<LinkPurpose, number>> = { invitation: 7 * DAY_MS, reset: DAY_MS }

interface CreatedLink {
  readonly user: UserRecord
  readonly purpose: LinkPurpose
  /** The address that the operator hands over. It is not stored, and cannot be shown again. */
  readonly address: string
  readonly expiresAt: EpochMs
}

/**
 * Creates a link with which the user sets a password, or adds a provider or a passkey, once. An earlier link of the user stops working. It is an invitation if the
 * user has no password and never signed in.
 *
 * @throws AdminError when there is no such user, the user is disabled or has no address, or passwords are off and there is neither a
 * provider nor a host for which browsers make passkeys
 */
export async function createLink(
  context: Pick<Context, 'clock' | 'issuer' | 'random' | 'secrets' | 'settings'> &
    StoreNeeds<'createLink' | 'findUser' | 'findUserByEmail' | 'listProviders'>,
  who: string,
): Promise<CreatedLink> {
  const user = await requireUser(context, who)
  const providers = await context.store.listProviders()
  const hasProvider = usableProviders(context.settings, providers).length > 0
  const hasPasskeys = context.settings.delegate === undefined && rpIdOf(context.issuer) !== undefined
  if (context.settings.passwords === 'off' && !hasProvider && !hasPasskeys) {
    throw withoutPasswords(context.settings)
  }
  if (!hasProvider) refuseRouted(providers, user.email)
  if (user.email === undefined) {
    throw conflict(`The user ${user.id} has no e-mail address to sign in with. See "grantor user set-email".`)
  }
  const purpose = user.passwordHash === undefined && user.firstSignedInAt === undefined ? 'invitation' : 'reset'
  const now = context.clock()
  const { token, hash } = mintLink(context.secrets, user.id, context.random)
  const expiresAt = after(now, LIFETIME_MS[purpose])
  const link = {
    userId: user.id,
    origin: 'operator',
    hash,
    purpose,
    isMailed: false,
    createdAt: now,
    expiresAt,
    mails: [],
  } as const
  if ((await context.store.createLink(link)) === 'unknown') {
    throw conflict(`${user.email} is disabled. See "grantor user enable".`)
  }
  return { user, purpose, address: linkAddress(context.issuer, token), expiresAt }
}
