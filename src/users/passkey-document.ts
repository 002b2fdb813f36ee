import type { PasskeyRecord } from '../ports/records/passkey.ts'

/** A passkey as operators and exports see it: without its key and its counter. Times are ISO 8601. */
export function describePasskey({ id, agent, isBackedUp, createdAt, usedAt }: PasskeyRecord): {
  readonly passkey_id: string
  readonly browser: string | null
  readonly system: string | null
  readonly is_synced: boolean
  readonly added_at: string
  readonly used_at: string | null
} {
  return {
    passkey_id: id,
    browser: agent?.browser ?? null,
    system: agent?.system ?? null,
    is_synced: isBackedUp,
    added_at: new Date(createdAt).toISOString(),
    used_at: usedAt === undefined ? null : new Date(usedAt).toISOString(),
  }
}
