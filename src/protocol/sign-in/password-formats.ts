import type { EpochMs } from '../../base/brand.ts'

/** The formats of password hashes that are verified: that of this server, argon2id, and those that other systems have made. */
export const HASH_FORMATS = [
  'argon2id',
  'argon2i',
  'argon2d',
  'bcrypt',
  'pbkdf2-sha1',
  'pbkdf2-sha256',
  'pbkdf2-sha512',
  'scrypt',
  'firebase-scrypt',
] as const
export type HashFormat = (typeof HASH_FORMATS)[number]

/** Why a hash of another system is not stored: its format is none of these or its text malformed, or its verification takes too long. */
export type HashRefusal = 'hash_unsupported' | 'hash_too_expensive'

/** What a sign-in has to allow for while users have hashes that another system has made. */
export interface ForeignFormats {
  /** Of each format the costs that take longest, as the hashes have them: `$2b$12`. */
  readonly costs: readonly string[]
  /** When they were noted last. */
  readonly notedAt: EpochMs
}

/** The text of the setting `password-formats`. */
export function writeForeignFormats({ costs, notedAt }: ForeignFormats): string {
  return JSON.stringify({ costs, notedAt })
}

/** `text`: of the setting; undefined: there is none. */
export function readForeignFormats(text: string | undefined): ForeignFormats {
  return text === undefined ? { costs: [], notedAt: 0 as EpochMs } : (JSON.parse(text) as ForeignFormats)
}
