import type { EventText } from './provider-events.ts'

/** The audit events of the whole store and its place; as AUDIT_EVENT_TEXTS in event-names.ts. */
export const SERVER_EVENT_TEXTS = {
  'server.issuer-changed': {
    when: 'The operator changed the issuer that belongs to the database.',
    details: '`issuer`: the new one',
  },
  'server.backed-up': { when: 'A backup of the whole store was made.' },
  'server.restored': {
    when: 'The store was restored. Earlier events are those of the backup.',
    details:
      '`made_at`: the time of the backup, in milliseconds since the epoch; `sha256`: its checksum; or `in_place`: the store came back by other means, and `grantor restore --in-place` ended what it could revive',
  },
  'server.went-back': { when: 'A node noticed that the store went back ([restored.md](operations/restored.md)).' },
  'server.confirmed': { when: 'The operator confirmed that the store lost nothing.' },
  'server.exported': { when: 'The store is closed next, because it moves to another place.' },
  'server.imported': {
    when: 'The store moved here. Earlier events are those of the place where it was closed.',
    details: '`made_at`: the time of the export, in milliseconds since the epoch; `sha256`: its checksum',
  },
  'server.reopened': {
    when: 'The store, which had been closed, is used in its former place again.',
    details: '`tokens_kept`: whether the tokens from before stay valid',
  },
} as const satisfies Readonly<Record<string, EventText>>
