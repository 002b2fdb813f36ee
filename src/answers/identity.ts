import * as z from 'zod'
import { ISO, iso } from '../base/iso.ts'
import type { IdentityRecord } from '../ports/records/provider.ts'
import { APPLICATION } from '../protocol/sign-in/authentication.ts'
import { tableOf } from './table.ts'

const { row, table } = tableOf<IdentityRecord>()

/** An account of a user at a provider, or at the application. */
export const IDENTITY = table({
  provider_id: row(
    z.string().describe(`A provider, or "${APPLICATION}" for your own application.`),
    ({ providerId }) => providerId,
  ),
  subject: row(z.string().describe('The id of the user at the provider.'), ({ subject }) => subject),
  email: row(z.string().nullable(), ({ email }) => email ?? null),
  linked_at: row(ISO, ({ linkedAt }) => iso(linkedAt)),
  used_at: row(ISO, ({ usedAt }) => iso(usedAt)),
})
