import type { Random } from '../ids.ts'

const CODES = 10
/** Without letters and digits that look alike; 32 of them, so that 16 have 80 bits (NIST SP 800-63B-4 §3.1.2.1: at least 64). */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789'
const LENGTH = 16

/** The recovery codes of a user as they are shown: ten times `xxxx-xxxx-xxxx-xxxx`. */
export function mintRecoveryCodes(random: Random): readonly string[] {
  return Array.from({ length: CODES }, () => mintRecoveryCode(random))
}

function mintRecoveryCode(random: Random): string {
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
