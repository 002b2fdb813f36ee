import type { Random } from '../ids.ts'

/** How many recovery codes a user gets. */
export const RECOVERY_CODES = 10
/** Without letters and digits that look alike; 32 of them, so that 16 have 80 bits (NIST SP 800-63B-4 §3.1.2.1: at least 64). */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789'
const LENGTH = 16

/** A recovery code as it is shown: `xxxx-xxxx-xxxx-xxxx`. */
export function mintRecoveryCode(random: Random): string {
  const letters = Array.from(random(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return (letters.match(/.{4}/g) ?? []).join('-')
}

/** The letters of a code that was typed with or without hyphens, spaces and capital letters. undefined: no recovery code is like it. */
export function readRecoveryCode(typed: string): string | undefined {
  const letters = typed.replaceAll(/[\s-]/g, '').toLowerCase()
  return letters.length === LENGTH && Array.from(letters).every((letter) => ALPHABET.includes(letter))
    ? letters
    : undefined
}
