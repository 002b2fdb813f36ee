import * as z from 'zod'

/** A whole number in a range. */
export function whole(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max)
}

/** At least one second. */
export function seconds(max: number) {
  return whole(1, max)
}

/** Values separated by commas or spaces. */
export const list = z.string().transform((text) => text.split(/[\s,]+/).filter((one) => one !== ''))

/** An address that may be absent. */
export const link = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional()
