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

/** How messages name a user: by the email, else by the name, else by the id. */
export function nameUser(user: {
  readonly id: string
  readonly email: string | null | undefined
  readonly name: string | null | undefined
}): string {
  return showEmails(user.email ?? user.name ?? user.id)
}
