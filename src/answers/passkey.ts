import * as z from 'zod'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../base/iso.ts'
import type { PasskeyRecord } from '../ports/records/passkey.ts'
import { tableOf } from './table.ts'

const { row, table } = tableOf<PasskeyRecord>()

/** A passkey, without its key and its counter. */
export const PASSKEY = table({
  passkey_id: row(z.string(), ({ id }) => id),
  browser: row(
    z.string().nullable().describe('The browser in which the user added it; null: not a known one.'),
    ({ agent }) => agent?.browser ?? null,
  ),
  system: row(z.string().nullable(), ({ agent }) => agent?.system ?? null),
  is_synced: row(
    z.boolean().describe('Whether the key has a copy outside the device that made it.'),
    ({ isBackedUp }) => isBackedUp,
  ),
  added_at: row(ISO, ({ createdAt }) => iso(createdAt)),
  used_at: row(ISO_OR_NULL.describe('null: no sign-in has used it.'), ({ usedAt }) => isoOrNull(usedAt)),
})
