import { hash } from 'node:crypto'
import { hashedId, isChosenId, type MailId, type Random, type UserId } from '../ids.ts'
import type { CredentialKind, MintedCredential, SecretHash, Secrets } from '../secrets.ts'
import { addressOf } from '../uri/server-address.ts'

/** The prefix of the user ids of this server. What follows is a time-ordered id, as credentials have one. */
const PREFIX = 'gus_'

/** The path of the page of a link. */
export const LINK_PATH = '/account/link'

/** A link, or an identity proof. */
type OfUser = Extract<CredentialKind, 'link' | 'identity-proof'>

/** Makes the credential of a link. It has the id of its user, because a user has at most one link, which is stored by that id. */
export function mintLink(secrets: Pick<Secrets, 'mint'>, userId: UserId, random: Random): MintedCredential {
  return withUser(secrets.mint('link', idOf(userId), random), userId)
}

/** The same for a link that is mailed. It is derived from the mail, so that only its hash is stored. */
export function deriveLink(
  secrets: Pick<Secrets, 'derive'>,
  mail: { readonly userId: UserId; readonly id: MailId },
): MintedCredential {
  return withUser(secrets.derive('link', idOf(mail.userId), ['mail', mail.id]), mail.userId)
}

/** Makes the credential of an identity proof, which has the id of its user for the same reason. */
export function mintIdentityProof(secrets: Pick<Secrets, 'mint'>, userId: UserId, random: Random): MintedCredential {
  return withUser(secrets.mint('identity-proof', idOf(userId), random), userId)
}

/**
 * The id in the credential. A chosen id of a user does not fit into it, so its hash is there, and the id follows after a
 * point.
 */
function idOf(userId: UserId): string {
  return userId.startsWith(PREFIX) ? userId.slice(PREFIX.length) : hashedId(hash('sha256', userId, 'buffer'))
}

function withUser(minted: MintedCredential, userId: UserId): MintedCredential {
  return userId.startsWith(PREFIX) ? minted : { ...minted, token: `${minted.token}.${userId}` }
}

/** Returns the user and the hash of a link or an identity proof, if this server issued it. */
export function openOfUser(
  secrets: Pick<Secrets, 'verify'>,
  kind: OfUser,
  text: string,
): { readonly userId: UserId; readonly hash: SecretHash } | undefined {
  const point = text.indexOf('.')
  const opened = secrets.verify(kind, point === -1 ? text : text.slice(0, point))
  if (opened === undefined) return undefined
  const userId = (point === -1 ? `${PREFIX}${opened.id}` : text.slice(point + 1)) as UserId
  const isWhole = point === -1 || (isChosenId(userId) && idOf(userId) === opened.id)
  return isWhole ? { userId, hash: opened.hash } : undefined
}

/** The address of a link. It is made of the issuer, never of a header of a request (threats.md ACC-04). */
export function linkAddress(issuer: string, token: string): string {
  return `${addressOf(issuer, LINK_PATH)}?token=${encodeURIComponent(token)}`
}
