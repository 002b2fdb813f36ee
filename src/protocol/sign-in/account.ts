import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../ids.ts'
import type { Secrets } from '../secrets.ts'
import { showEmails } from './email-address.ts'

/** After so many wrong codes of an address the right one is refused. A person who guesses 8 digits 25 times an hour hits once in 4 million hours. */
export const CODE_TRIES = 5

/** Returns the digits that a person typed. undefined: it is no code of an address. Spaces are ignored. */
export function parseEmailCode(typed: string): string | undefined {
  const code = typed.replaceAll(/\s/g, '')
  return /^\d{8}$/.test(code) ? code : undefined
}

/** What the store has of a code. It is of one user and one address: for another one it is wrong. */
export function digestEmailCode(
  { digest }: Pick<Secrets, 'digest'>,
  { userId, email }: { readonly userId: UserId; readonly email: string },
  code: string,
): string {
  return digest('email-code', [userId, email, code])
}

/** `firstSignedInAt` of an account that was imported. undefined would let a provider take the account over before its user comes. */
export const IMPORTED = -1 as EpochMs

/** When the user first signed in here. undefined: never. */
export function firstSignInOf({
  firstSignedInAt,
}: {
  readonly firstSignedInAt: EpochMs | undefined
}): EpochMs | undefined {
  return firstSignedInAt === IMPORTED ? undefined : firstSignedInAt
}

interface NamedUser {
  readonly email: string | null | undefined
  readonly name: string | null | undefined
}

/**
 * How lists and messages name a user: by the email, else by the name. A person chooses the own name, which may be the address of another person, so
 * the words before it say that it is a name (threats.md CON-36). undefined: the user has neither.
 */
export function callUser({ email, name }: NamedUser): string | undefined {
  return email ?? (name === null || name === undefined ? undefined : `a user named ${JSON.stringify(name)}`)
}

/** The same, or the id, as people read it. */
export function nameUser(user: NamedUser & { readonly id: string }): string {
  return showEmails(callUser(user) ?? user.id)
}

/** How the user's own authenticator names the account. Only the person who chose the name reads it. */
export function labelUser({ id, email, name }: NamedUser & { readonly id: string }): string {
  return showEmails(email ?? name ?? id)
}
