import type { MailId, Random, UserId } from '../ids.ts'
import type { MintedCredential, Secrets } from '../secrets.ts'
import { addressOf } from '../uri/server-address.ts'

/** The prefix of user ids. What follows is a time-ordered id, as credentials have one. */
const PREFIX = 'gus_'

/** The path of the page of a link. */
export const LINK_PATH = '/account/link'

/** Makes the credential of a link. It has the id of its user, because a user has at most one link, which is stored by that id. */
export function mintLink(secrets: Pick<Secrets, 'mint'>, userId: UserId, random: Random): MintedCredential {
  return secrets.mint('link', userId.slice(PREFIX.length), random)
}

/** The same for a link that is mailed. It is derived from the mail, so that only its hash is stored. */
export function deriveLink(
  secrets: Pick<Secrets, 'derive'>,
  mail: { readonly userId: UserId; readonly id: MailId },
): MintedCredential {
  return secrets.derive('link', mail.userId.slice(PREFIX.length), ['mail', mail.id])
}

/** Makes the credential of an identity proof, which has the id of its user for the same reason. */
export function mintIdentityProof(secrets: Pick<Secrets, 'mint'>, userId: UserId, random: Random): MintedCredential {
  return secrets.mint('identity-proof', userId.slice(PREFIX.length), random)
}

/** The user that a credential of a link, or of an identity proof, is for. */
export function userIdOfLink(id: string): UserId {
  return `${PREFIX}${id}` as UserId
}

/** The address of a link. It is made of the issuer, never of a header of a request (threats.md ACC-04). */
export function linkAddress(issuer: string, token: string): string {
  return `${addressOf(issuer, LINK_PATH)}?token=${token}`
}
