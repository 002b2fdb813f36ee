import type { Brand, EpochMs } from '../../base/brand.ts'
import { isFromFuture } from '../../base/clock.ts'
import { hashedId, type DeviceId, type Random } from '../ids.ts'
import type { Secrets } from '../secrets.ts'

/** The code that a device shows and a user types, without the hyphen. RFC 8628 §6.1. */
export type UserCode = Brand<string, 'UserCode'>

/** How long an approved device can get its tokens. It polls every few seconds, and may slow down. */
export const DEVICE_REDEMPTION_SECONDS = 300

/** Whether the device has ended unanswered: too much time has passed, or the clock was ahead when it began. */
export function hasDeviceEnded(
  { createdAt, expiresAt }: { readonly createdAt: EpochMs; readonly expiresAt: EpochMs },
  now: EpochMs,
): boolean {
  return expiresAt <= now || isFromFuture(createdAt, now)
}

/** No vowels, so that no words appear, and no two that look alike. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8
/** Bytes from here on would make some letters more likely. */
const USABLE_BYTES = 256 - (256 % LETTERS.length)

/** 2.6 · 10¹⁰ codes. */
export function mintUserCode(random: Random): UserCode {
  let code = ''
  while (code.length < LENGTH) {
    const usable = [...random(LENGTH)].filter((byte) => byte < USABLE_BYTES)
    code += usable.map((byte) => LETTERS[byte % LETTERS.length]).join('')
  }
  return code.slice(0, LENGTH) as UserCode
}

/** Reads what a user typed: in any case, with anything between the letters. undefined: it is no code. */
export function parseUserCode(text: string): UserCode | undefined {
  const letters = text.toUpperCase().replaceAll(/[^A-Z]/g, '')
  const isCode = letters.length === LENGTH && [...letters].every((letter) => LETTERS.includes(letter))
  return isCode ? (letters as UserCode) : undefined
}

/** The code as devices and pages show it: `BCDF-GHJK`. */
export function formatUserCode(code: UserCode): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
}

/**
 * The id of the device with this code. So the page finds the device by its key, two devices cannot wait with one code, and the store does not
 * reveal the code: the digest has a key.
 */
export function deviceIdOf({ digest }: Pick<Secrets, 'digest'>, code: UserCode): DeviceId {
  return hashedId(Buffer.from(digest('user-code', [code]), 'base64url')) as DeviceId
}
