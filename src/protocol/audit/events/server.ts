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
    when: 'By the operator, or by a start for this machine alone.',
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
    when: 'Earlier events are those of the backup.',
    details:
      '`made_at`: the time of the backup, in milliseconds since the epoch; `sha256`; or `in_place`, after `grantor restore --in-place`',
  },
  'server.went-back': {
    icon: 'server',
    tone: 'bad',
    says: () => say`The store went back to an earlier state`,
    when: 'A node noticed that the store [went back](operations/backup.md#restored-by-other-means).',
  },
  'server.confirmed': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} confirmed that the store lost nothing`,
    when: 'The store lost nothing, says the operator.',
  },
  'server.exported': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} exported the store, to move it`,
    when: 'The store is closed next, because it moves.',
  },
  'server.imported': {
    icon: 'server',
    tone: 'plain',
    says: () => say`The store moved here`,
    when: 'The store moved here. Earlier events are of its former place.',
    details: '`made_at`: the time of the export; `sha256`',
  },
  'import.finished': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} finished an import${event.optional(' of accounts and clients of ', 'source')}`,
    when: 'Of users and clients of another system.',
    details: '`source`: the system; `sha256` of its files; how many records had each outcome',
  },
  'server.reopened': {
    icon: 'server',
    tone: 'caution',
    says: (event) => say`${event.by} opened the store again in its former place`,
    when: 'The closed store is used in its former place again.',
    details: '`tokens_kept`: whether the tokens from before stay valid',
  },
  'api.created': {
    icon: 'api',
    tone: 'good',
    says: (event) => say`${event.by} declared the API ${event.detail('resource')}`,
    details: '`resource`; `groups`, `group_words_added`',
  },
  'api.updated': {
    icon: 'api',
    tone: 'plain',
    says: (event) => say`${event.by} changed the API ${event.detail('resource')}`,
    details:
      '`resource`; `exchange_from_added`, `exchange_from_removed`, `exchange_from_changed`: APIs; `groups`, `group_words_added`, `group_words_removed`',
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
    when: 'A run of `grantor apply` changed something.',
    details: '`set`; `created`, `updated`, `deleted`: how many records; `complete`: false if a task failed',
  },
  'apply.released': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} released the set ${event.detail('set')}`,
    when: 'A set of `grantor apply` was removed. Its records stayed.',
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
    details: '`leaked`: whether everything that was issued ended with it',
  },
  'clock.confirmed': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.by} confirmed the clock`,
    details: '`clock`: what it showed, in milliseconds',
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
    when: 'A request of known credentials. Counted.',
    details: '`reason`',
  },
  'console.refused': {
    icon: 'lock',
    tone: 'caution',
    says: (event) =>
      say`${event.user} was refused at the console, ${event.detail('reason') === 'console_factor_missing' ? 'without a second factor' : 'without a role'}${event.times}`,
    when: 'A user without a role, or with one factor. Counted.',
    details: '`reason`: `console_role_missing` or `console_factor_missing`',
  },
  'role.set': {
    icon: 'user',
    tone: 'caution',
    says: (event) => say`${event.by} gave ${event.user} the role ${event.detail('access')}`,
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
    when: 'The last link of another chain.',
    details: '`chain`, `sequence`, `hash`, `recorded_at`',
  },
  'audit.swept': {
    icon: 'server',
    tone: 'plain',
    says: (event) => say`${event.detail('links')} links of the audit reached their retention time and were removed`,
    when: 'Links older than the retention were removed.',
    details: '`before`, `links`',
  },
  'audit.unreadable': {
    icon: 'server',
    tone: 'bad',
    says: () => say`The events of a link cannot be read`,
    when: 'In place of a link whose events are not readable; `audit verify` reports it.',
  },
} as const satisfies Readonly<Record<string, EventText>>
