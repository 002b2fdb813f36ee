declare const brand: unique symbol

/** A primitive that only its maker can produce: a ClientId is a string, but no string is a ClientId. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** Milliseconds since the epoch, as the clock gives them and the store keeps them. */
export type EpochMs = Brand<number, 'EpochMs'>

/** Seconds since the epoch, as OAuth and JWT put them on the wire (RFC 7519 §2, NumericDate). */
export type EpochSeconds = Brand<number, 'EpochSeconds'>

/** The wire's second that a moment falls in. */
export function toSeconds(moment: EpochMs): EpochSeconds {
  return Math.floor(moment / 1000) as EpochSeconds
}

/** The moment `milliseconds` after another. */
export function after(moment: EpochMs, milliseconds: number): EpochMs {
  return (moment + milliseconds) as EpochMs
}
