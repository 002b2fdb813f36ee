import type { EventText } from './event-text.ts'

/** The events of the whole server: its store, APIs, domains, keys and administrators. */
export const SERVER_EVENTS = {
  'server.tokens-revoked': {},
  'server.issuer-changed': {
    when: 'The operator changed the issuer that belongs to the database, or a server for this machine alone started with another one.',
    details: '`issuer`: the new one',
  },
  'server.backed-up': {},
  'server.restored': {
    when: 'The store was restored. Earlier events are those of the backup.',
    details:
      '`made_at`: the time of the backup, in milliseconds since the epoch; `sha256`; or `in_place`, after `grantor restore --in-place`',
  },
  'server.went-back': { when: 'A node noticed that the store went back ([restored.md](operations/restored.md)).' },
  'server.confirmed': { when: 'The operator confirmed that the store lost nothing.' },
  'server.exported': { when: 'The store is closed next, because it moves to another place.' },
  'server.imported': {
    when: 'The store moved here. Earlier events are those of the place where it was closed.',
    details: '`made_at`: the time of the export; `sha256`',
  },
  'import.finished': {
    when: 'An import of users and clients of another system ended. Those that it stored have events of their own.',
    details: '`source`: the system; `sha256` of its files; how many records had each outcome',
  },
  'server.reopened': {
    when: 'The store, which had been closed, is used in its former place again.',
    details: '`tokens_kept`: whether the tokens from before stay valid',
  },
  'api.created': { details: '`resource`' },
  'api.updated': {
    details:
      '`resource`; `exchange_from_added`, `exchange_from_removed`, `exchange_from_changed`: the APIs whose rule is new, gone or has another scope',
  },
  'api.credentials-set': { details: '`resource`' },
  'api.deleted': { details: '`resource`' },
  'domain.trusted': { details: '`pattern`' },
  'domain.blocked': { details: '`pattern`' },
  'domain.forgotten': { details: '`pattern`' },
  'apply.finished': {
    when: 'A run of `grantor apply` that changed something ended. Its changes are events of their own.',
    details: '`set`; `created`, `updated`, `deleted`: how many records; `complete`: false if a task failed',
  },
  'apply.released': {
    when: 'An administrator removed a set of `grantor apply`. Its records stayed.',
    details: '`set`',
  },
  'key.added': { details: '`key`' },
  'key.removed': { details: '`key`' },
  'secret.rotated': {
    when: 'The root secret was changed.',
    details: '`leaked`: whether everything that was issued ended with it',
  },
  'clock.confirmed': {
    when: 'The operator confirmed the clock of a server with a SQLite file.',
    details: '`clock`: what it showed, in milliseconds since the epoch',
  },
  'admin-credential.created': { details: '`credential`, `access`' },
  'admin-credential.revoked': { details: '`credential`' },
  'admin.refused': { when: 'The administration refused a request of known credentials. Counted.', details: '`reason`' },
  'console.refused': {
    when: 'A user signed in to the console without a role, or with one factor. Counted.',
    details: '`reason`: `console_role_missing` or `console_factor_missing`',
  },
  'role.set': {
    when: 'A user got a role for the console, for one organization if the event names one.',
    details: '`access`, `loopback_only`',
  },
  'role.removed': {},
  'audit.head': {
    when: 'The last link of another chain (see below).',
    details: '`chain`, `sequence`, `hash`, `recorded_at`',
  },
  'audit.swept': { when: 'Links older than the retention time were removed.', details: '`before`, `links`' },
  'audit.unreadable': {
    when: 'Listed in place of a link whose events are not readable; `audit verify` reports the link.',
  },
} as const satisfies Readonly<Record<string, EventText>>
