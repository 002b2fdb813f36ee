import * as z from 'zod'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../base/iso.ts'
import type { SessionRecord } from '../ports/records/user.ts'
import { tableOf } from './table.ts'

const { row, table } = tableOf<SessionRecord>()

/** A session in an answer, without the hash of its cookie. */
export const SESSION = table({
  session_id: row(z.string(), ({ id }) => id),
  user_id: row(z.string(), ({ userId }) => userId),
  methods: row(
    z.array(z.string()).describe('How the user authenticated (RFC 8176); `recovery`: with a recovery code.'),
    ({ authentication }) => authentication.methods,
  ),
  provider_id: row(z.string().nullable(), ({ authentication }) => authentication.providerId ?? null),
  authenticated_at: row(
    ISO_OR_NULL.describe('null: unknown, because the provider or the application did not report it.'),
    ({ authentication }) => isoOrNull(authentication.at),
  ),
  browser: row(z.string().nullable(), ({ agent }) => agent?.browser ?? null),
  system: row(z.string().nullable(), ({ agent }) => agent?.system ?? null),
  network: row(
    z
      .string()
      .nullable()
      .describe('The network that the user signed in from: an IPv4 address, or the /64 of an IPv6 address.'),
    ({ network }) => network ?? null,
  ),
  started_at: row(ISO, ({ createdAt }) => iso(createdAt)),
  seen_at: row(
    ISO.describe('When the browser last showed a page of this server, to within five minutes.'),
    ({ seenAt }) => iso(seenAt),
  ),
  expires_at: row(ISO, ({ expiresAt }) => iso(expiresAt)),
})
