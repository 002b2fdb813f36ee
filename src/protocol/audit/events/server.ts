import { say } from '../sentence.ts'
import type { EventText } from './event-text.ts'

/** The events of the whole server: its store, APIs, domains, keys and administrators. */
export const SERVER_EVENTS = {
  'server.tokens-revoked': {
    icon: 'token',
    tone: 'bad',
    says: (event) => say`${event.by} revoked all sessions and tokens of the server`,
  },
  'server.issuer-changed': {
    icon: 'server',
    tone: 'caution',
    says: (event) => say`${event.by} changed the issuer to ${event.detail('issuer')}`,
    when: 'The operator changed the issuer that belongs to the database, or a server for this machine alone started with another one.',
    details: '`issuer`: the new one',
  },
  'server.backed-up': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} made a backup`,
  },
  'server.restored': {
    icon: 'server',
    tone: 'caution',
    says: () => say`The store was restored from a backup`,
    when: 'The store was restored. Earlier events are those of the backup.',
    details:
      '`made_at`: the time of the backup, in milliseconds since the epoch; `sha256`; or `in_place`, after `grantor restore --in-place`',
  },
  'server.went-back': {
    icon: 'server',
    tone: 'bad',
    says: () => say`The store went back to an earlier state`,
    when: 'A node noticed that the store went back ([restored.md](operations/backup.md#restored-by-other-means)).',
  },
  'server.confirmed': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} confirmed that the store lost nothing`,
    when: 'The operator confirmed that the store lost nothing.',
  },
  'server.exported': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} exported the store, to move it`,
    when: 'The store is closed next, because it moves to another place.',
  },
  'server.imported': {
    icon: 'server',
    tone: 'plain',
    says: () => say`The store moved here`,
    when: 'The store moved here. Earlier events are those of the place where it was closed.',
    details: '`made_at`: the time of the export; `sha256`',
  },
  'import.finished': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} finished an import${event.optional(' of accounts and clients of ', 'source')}`,
    when: 'An import of users and clients of another system ended. Those that it stored have events of their own.',
    details: '`source`: the system; `sha256` of its files; how many records had each outcome',
  },
  'server.reopened': {
    icon: 'server',
    tone: 'caution',
    says: (event) => say`${event.by} opened the store again in its former place`,
    when: 'The store, which had been closed, is used in its former place again.',
    details: '`tokens_kept`: whether the tokens from before stay valid',
  },
  'api.created': {
    icon: 'api',
    tone: 'good',
    says: (event) => say`${event.by} declared the API ${event.detail('resource')}`,
    details: '`resource`',
  },
  'api.updated': {
    icon: 'api',
    tone: 'plain',
    says: (event) => say`${event.by} changed the API ${event.detail('resource')}`,
    details:
      '`resource`; `exchange_from_added`, `exchange_from_removed`, `exchange_from_changed`: the APIs whose rule is new, gone or has another scope',
  },
  'api.credentials-set': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.by} created credentials for the API ${event.detail('resource')}`,
    details: '`resource`',
  },
  'api.deleted': {
    icon: 'api',
    tone: 'caution',
    says: (event) => say`${event.by} deleted the API ${event.detail('resource')}`,
    details: '`resource`',
  },
  'domain.trusted': {
    icon: 'server',
    tone: 'good',
    says: (event) => say`${event.by} trusted the domain ${event.detail('pattern')}`,
    details: '`pattern`',
  },
  'domain.blocked': {
    icon: 'server',
    tone: 'caution',
    says: (event) => say`${event.by} blocked the domain ${event.detail('pattern')}`,
    details: '`pattern`',
  },
  'domain.forgotten': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} removed the rule for the domain ${event.detail('pattern')}`,
    details: '`pattern`',
  },
  'apply.finished': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} applied the set ${event.detail('set')}`,
    when: 'A run of `grantor apply` that changed something ended. Its changes are events of their own.',
    details: '`set`; `created`, `updated`, `deleted`: how many records; `complete`: false if a task failed',
  },
  'apply.released': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} released the set ${event.detail('set')}`,
    when: 'An administrator removed a set of `grantor apply`. Its records stayed.',
    details: '`set`',
  },
  'key.added': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`The signing key ${event.detail('key')} was added`,
    details: '`key`',
  },
  'key.removed': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`The signing key ${event.detail('key')} was removed`,
    details: '`key`',
  },
  'secret.rotated': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.by} changed the root secret`,
    when: 'The root secret was changed.',
    details: '`leaked`: whether everything that was issued ended with it',
  },
  'clock.confirmed': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} confirmed the clock`,
    when: 'The operator confirmed the clock of a server with a SQLite file.',
    details: '`clock`: what it showed, in milliseconds since the epoch',
  },
  'admin-credential.created': {
    icon: 'key',
    tone: 'plain',
    says: (event) =>
      say`${event.by} created credentials with ${event.detail('access')} access: ${event.detail('credential')}`,
    details: '`credential`, `access`',
  },
  'admin-credential.revoked': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.by} revoked the credentials ${event.detail('credential')}`,
    details: '`credential`',
  },
  'admin.refused': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`The administration refused ${event.by}${event.times}`,
    when: 'The administration refused a request of known credentials. Counted.',
    details: '`reason`',
  },
  'console.refused': {
    icon: 'lock',
    tone: 'caution',
    says: (event) =>
      say`${event.user} was refused at the console, ${event.detail('reason') === 'console_factor_missing' ? 'without a second factor' : 'without a role'}${event.times}`,
    when: 'A user signed in to the console without a role, or with one factor. Counted.',
    details: '`reason`: `console_role_missing` or `console_factor_missing`',
  },
  'role.set': {
    icon: 'user',
    tone: 'caution',
    says: (event) => say`${event.by} gave ${event.user} the role ${event.detail('access')}`,
    when: 'A user got a role for the console, for one organization if the event names one.',
    details: '`access`, `loopback_only`',
  },
  'role.removed': {
    icon: 'user',
    tone: 'caution',
    says: (event) => say`${event.by} took the role of ${event.user} away`,
  },
  'audit.head': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`The chain ${event.detail('chain')} had the link ${event.detail('sequence')}`,
    when: 'The last link of another chain (see below).',
    details: '`chain`, `sequence`, `hash`, `recorded_at`',
  },
  'audit.swept': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.detail('links')} links of the audit reached their retention time and were removed`,
    when: 'Links older than the retention time were removed.',
    details: '`before`, `links`',
  },
  'audit.unreadable': {
    icon: 'server',
    tone: 'bad',
    says: () => say`The events of a link cannot be read`,
    when: 'Listed in place of a link whose events are not readable; `audit verify` reports the link.',
  },
} as const satisfies Readonly<Record<string, EventText>>
