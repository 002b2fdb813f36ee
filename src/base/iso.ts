import * as z from 'zod'
import type { EpochMs } from './brand.ts'

/** A time in an answer, as ISO 8601. */
export const ISO = z.iso.datetime()
/** A time in an answer; null: it has not happened. */
export const ISO_OR_NULL = ISO.nullable()

/** A time as answers have it. */
export function iso(time: EpochMs): string {
  return new Date(time).toISOString()
}

export function isoOrNull(time: EpochMs | undefined): string | null {
  return time === undefined ? null : iso(time)
}
