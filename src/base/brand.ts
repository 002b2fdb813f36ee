declare const brand: unique symbol

/** A primitive type that only certain functions produce: a ClientId is a string, but a string is not a ClientId. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** Milliseconds since the epoch, the unit of the clock and the store. */
export type EpochMs = Brand<number, 'EpochMs'>

/** Seconds since the epoch, the unit of OAuth messages and JWTs (RFC 7519 §2, NumericDate). */
export type EpochSeconds = Brand<number, 'EpochSeconds'>

/** Rounds a time down to seconds. */
export function toSeconds(time: EpochMs): EpochSeconds {
  return Math.floor(time / 1000) as EpochSeconds
}

/** The whole seconds from one time to another, at least 0. */
export function secondsSince(then: EpochMs, now: EpochMs): number {
  return Math.max(0, Math.floor((now - then) / 1000))
}

/** The time that is `milliseconds` later than `time`. */
export function after(time: EpochMs, milliseconds: number): EpochMs {
  return (time + milliseconds) as EpochMs
}
