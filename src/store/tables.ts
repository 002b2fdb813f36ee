import type { ClientRecord } from '../ports/records/client.ts'
import type { ConsentRecord, GrantRecord, OpenidGrant } from '../ports/records/grant.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from '../ports/records/organization.ts'
import type { InteractionRecord } from '../ports/records/interaction.ts'
import type { LogoutNoticeRecord } from '../ports/records/logout-notice.ts'
import type { LinkRecord, SessionRecord, UserRecord } from '../ports/records/user.ts'
import type { Authentication, AuthenticationMethod } from '../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../base/brand.ts'
import { DEFAULT_RULES, type ClientRules } from '../protocol/client/policy.ts'
import { answerText, readAnswer } from '../protocol/sign-in/interaction.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { UserProfile } from '../protocol/openid/user-claims.ts'
import { readConsentTarget, type Value } from './rows.ts'
import { bigint, flag, group, json, optionalGroup, optionalJson, scope, table, text, without } from './table.ts'

/** The columns of the schema (migrations/), each named once, and the records that they contain. */

const disabling = { disabledAt: bigint<EpochMs | undefined>('disabled_at'), notBefore: bigint<EpochMs>('not_before') }

export const USERS = table<UserRecord>({
  id: text('user_id'),
  email: text('email'),
  emailVerifiedAt: bigint('email_verified_at'),
  name: text('name'),
  profile: {
    columns: [{ name: 'profile', type: 'text', write: profileText }],
    read: (row) => JSON.parse((row['profile'] ?? '{}') as string) as UserProfile,
  },
  updatedAt: bigint('updated_at'),
  passwordHash: text('password_hash'),
  firstSignedInAt: bigint('first_signed_in_at'),
  createdAt: bigint('created_at'),
  ...disabling,
})

/** The text of a profile; null if it is empty. */
export function profileText(profile: UserProfile): string | null {
  return Object.keys(profile).length === 0 ? null : JSON.stringify(profile)
}

export const SESSIONS = table<SessionRecord>({
  id: text('session_id'),
  hash: text('session_hash'),
  userId: text('user_id'),
  rootId: text('root_id'),
  authentication: group<Authentication>({
    methods: {
      columns: [{ name: 'methods', type: 'text', write: (methods) => methods.join(' ') }],
      read: (row) => (row['methods'] as string).split(' ') as readonly AuthenticationMethod[],
    },
    at: bigint('authenticated_at'),
    providerId: text('provider_id'),
  }),
  agent: optionalGroup('agent_browser', { browser: text('agent_browser'), system: text('agent_system') }),
  network: text('network'),
  seenAt: bigint('seen_at'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

export const LINKS = table<LinkRecord>({
  userId: text('user_id'),
  hash: text('link_hash'),
  purpose: text('purpose'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

export const LOGOUT_NOTICES = table<LogoutNoticeRecord>({
  userId: text('user_id'),
  rootId: text('root_id'),
  clientId: text('client_id'),
  sid: text('sid'),
  sessionStartedAt: bigint('session_started_at'),
  expiresAt: bigint('expires_at'),
  dueAt: bigint('due_at'),
  attempts: bigint('attempts'),
})

export const INTERACTIONS = table<InteractionRecord>({
  id: text('interaction_id'),
  hash: text('interaction_hash'),
  target: text('target'),
  browserHash: text('browser_hash'),
  uiLocales: text('ui_locales'),
  signInAfter: bigint('sign_in_after'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  answer: {
    columns: [{ name: 'answer', type: 'text', write: (answer) => (answer === undefined ? null : answerText(answer)) }],
    read: ({ answer }) => (typeof answer === 'string' ? readAnswer(answer) : undefined),
  },
  answeredAt: bigint('answered_at'),
  usedAt: bigint('used_at'),
})

export const ORGANIZATIONS = table<OrganizationRecord>({
  id: text('organization_id'),
  name: text('name'),
  createdAt: bigint('created_at'),
  ...disabling,
})

export const MEMBERSHIPS = table<MembershipRecord>({
  userId: text('user_id'),
  organizationId: text('organization_id'),
  createdAt: bigint('created_at'),
  ...disabling,
})

export const INSTALLATIONS = table<InstallationRecord>({
  clientId: text('client_id'),
  organizationId: text('organization_id'),
  scope: text('scope'),
  actsForMembers: flag('acts_for_members'),
  createdAt: bigint('created_at'),
  ...disabling,
})

/** `held_until` of a client that is never swept. */
export const HELD_FOR_EVER = Number.MAX_SAFE_INTEGER

/** JSON leaves out members that are undefined. */
function initialTokenOf(stored: Value | undefined): ClientRecord['initialToken'] {
  if (typeof stored !== 'string') return undefined
  const { id, scope: most, redirectHosts } = JSON.parse(stored) as NonNullable<ClientRecord['initialToken']>
  return { id, scope: most, redirectHosts }
}

/** A registration inserts some of the columns, in the batches of both stores. */
export const CLIENTS = table<ClientRecord>({
  id: text('client_id'),
  issuedAt: bigint('issued_at'),
  source: text('source'),
  rules: {
    columns: [{ name: 'rules', type: 'text', write: (rules) => JSON.stringify(rules) }],
    // A registration leaves the column out.
    read: ({ rules }) => (typeof rules === 'string' ? (JSON.parse(rules) as ClientRules) : DEFAULT_RULES),
  },
  document: optionalGroup('document_url', {
    url: text('document_url'),
    fetchedAt: bigint('document_fetched_at'),
    freshUntil: bigint('document_fresh_until'),
  }),
  initialToken: {
    columns: [
      { name: 'initial_token', type: 'text', write: (token) => (token === undefined ? null : JSON.stringify(token)) },
    ],
    read: (row) => initialTokenOf(row['initial_token']),
  },
  secretHash: text('secret_hash'),
  previousSecret: optionalGroup('previous_secret_hash', {
    hash: text('previous_secret_hash'),
    until: bigint('previous_secret_until'),
  }),
  managementHash: text('management_hash'),
  dedupeKey: text('shared_key'),
  metadata: json('metadata'),
  usedAt: bigint('used_at'),
  verifiedAt: bigint('verified_at'),
  disabledAt: bigint('disabled_at'),
  identityFrom: bigint('identity_from'),
  approvedScope: scope('approved_scope'),
  notBefore: bigint('not_before'),
  lastUsedAt: bigint('last_used_at'),
})

export const GRANTS = table<GrantRecord>({
  id: text('grant_id'),
  clientId: text('client_id'),
  userId: text('user_id'),
  organizationId: text('organization_id'),
  scope: text('scope'),
  ungrantedScope: scope('ungranted_scope'),
  resources: json('resources'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
  family: optionalGroup('live_hash', {
    generation: bigint('generation'),
    liveHash: text('live_hash'),
    previousHash: {
      ...text('previous_hash'),
      // A first token has no previous one. SQLite stores a placeholder, so that the first rotation does not make the row longer.
      read: (row) => (row['generation'] === 0 ? undefined : row['previous_hash']) as SecretHash | undefined,
    },
    rotatedAt: bigint('rotated_at'),
    idleExpiresAt: bigint('idle_expires_at'),
  }),
  openid: optionalJson<OpenidGrant>('openid'),
  redirectHost: text('redirect_host'),
})

/** Of the columns, those that users see. */
export const CONSENTS = table<ConsentRecord>({
  clientId: text('client_id'),
  redirectHost: text('redirect_host'),
  target: { columns: [], read: (row) => readConsentTarget(row['resources'] as string) },
  scope: text('scope'),
  givenAt: bigint('given_at'),
})

/** The columns that a new grant sets: it was not revoked, and no token was rotated. */
export const NEW_GRANT = without(GRANTS, 'revoked_at', 'previous_hash')
