import { createHmac, timingSafeEqual } from 'node:crypto'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../ids.ts'

/** What authenticator apps compute if nothing else is said; several ignore other parameters. */
const DIGITS = 6
const STEP_MS = 30_000
/** RFC 6238 §5.2: one step before and after, for a clock that differs and for the time to type. */
const DRIFT_STEPS = [0, -1, 1] as const
/** RFC 4226 §4 R6 recommends 160 bits. */
export const TOTP_SECRET_BYTES = 20
/** Wrong codes in all after which codes of unknown browsers are refused (NIST SP 800-63B-4 §3.2.2). */
export const GUESS_LIMIT = 100

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The time step of a moment (RFC 6238 §4.2): 30 seconds since 1970. */
export function stepOf(at: EpochMs): number {
  return Math.floor(at / STEP_MS)
}

/** The code of a time step: HMAC-SHA-1 and dynamic truncation (RFC 4226 §5.3), `digits` decimal digits. */
export function totpAt(secret: Uint8Array, step: number, digits: number = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const truncated = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(truncated % 10 ** digits).padStart(digits, '0')
}

/**
 * The time step whose code the text is: the present one, that before or that after. Spaces between digits are ignored. undefined: it is
 * the code of none.
 */
export function findStep(secret: Uint8Array, typed: string, now: EpochMs): number | undefined {
  const code = typed.replaceAll(/\s/g, '')
  if (!/^[0-9]{6}$/.test(code)) return undefined
  const steps = DRIFT_STEPS.map((drift) => stepOf(now) + drift)
  return steps.find((step) => timingSafeEqual(Buffer.from(totpAt(secret, step)), Buffer.from(code)))
}

/** The secret as users type it into an app: base32 (RFC 4648 §6) without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}

/** The bytes of base32 without padding, in either case and with spaces. undefined: the text is no base32. */
export function base32Bytes(text: string): Buffer | undefined {
  const plain = text.toUpperCase().replaceAll(/[\s-]|=+$/g, '')
  if (!/^[A-Z2-7]+$/.test(plain)) return undefined
  const bits = Array.from(plain, (digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** What the secret of a user's app is encrypted as. */
export function secretName(userId: UserId): string {
  return `totp ${userId}`
}

/** The address that an app reads from the QR code. `issuer` and `account` are what it lists the code under. */
export function otpauthUri(secret: Uint8Array, issuer: string, account: string): string {
  // In the label a colon separates both, and apps read a plus sign as it is.
  const label = [issuer, account].map((text) => encodeURIComponent(text.replaceAll(':', ' '))).join(':')
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer.replaceAll(':', ' '))}`
}
