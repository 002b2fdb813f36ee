import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import type { ApiDefinition, ApiRecord, ApiScope, ApiTokens } from '../ports/records/api.ts'
import type { AuditLinkRecord } from '../ports/records/audit.ts'
import type { DomainRuleRecord } from '../ports/records/domain-rule.ts'
import type { InitialTokenRecord } from '../ports/records/initial-token.ts'
import type { KeyRecord } from '../ports/records/key.ts'
import type { EpochMs } from '../base/brand.ts'
import { USUAL_TEMPLATE, type RegistrationTemplate } from '../protocol/client/registration-template.ts'
import { bigint, flag, group, json, optionalGroup, orElse, table, text, without, type Member } from './table.ts'

/** The tables of what the operator configures and of the audit, as in tables.ts. */

const definition = {
  name: text<string | undefined>('name'),
  scopes: json<readonly ApiScope[]>(
    'scopes',
    (scopes) => scopes.map(storedScope),
    (stored) => (stored as readonly StoredScope[]).map(scopeOf),
  ),
  tokens: group<ApiTokens>({
    format: text('token_format', 'jwt'),
    lifetime: bigint('token_lifetime'),
    algorithm: text('algorithm'),
    jwtType: text('jwt_type', 'at+jwt'),
    applicationSubject: flag('application_subject'),
  }),
}

/** The columns that the operator defines. An update compares them with what its caller read. */
export const API_DEFINITIONS = table<Omit<ApiDefinition, 'resource'>>(definition)

const changeable = {
  ...definition,
  scopesSince: {
    columns: [
      { name: 'scopes_since', type: 'text', write: (since) => (since.size === 0 ? null : JSON.stringify([...since])) },
    ],
    read: (row) => new Map(JSON.parse((row['scopes_since'] ?? '[]') as string) as readonly [string, EpochMs][]),
  } satisfies Member<ApiRecord['scopesSince']>,
}

/** The columns that an update replaces. */
export const API_CHANGES = table<Omit<ApiRecord, 'resource' | 'credentials' | 'createdAt'>>(changeable)

export const APIS = table<ApiRecord>({
  resource: text('resource'),
  ...changeable,
  credentials: optionalGroup('credential_id', { id: text('credential_id'), secretHash: text('secret_hash') }),
  createdAt: bigint('created_at'),
})

export const DOMAIN_RULES = table<DomainRuleRecord>({
  pattern: text('pattern'),
  verdict: text('verdict'),
  note: text('note'),
  changedAt: bigint('changed_at'),
})

/** The keys of both purposes. Each purpose has a table of its own, whose name says it. */
export const SIGNING_KEYS = table<KeyRecord>({
  id: text('key_id'),
  purpose: text('purpose', 'access'),
  algorithm: text('algorithm'),
  publicJwk: text('public_jwk'),
  encryptedPrivateKey: text('encrypted_private_key'),
  createdAt: bigint('created_at'),
  // A key from before key rotation existed was the only one, and has signed since it was created.
  activeFrom: orElse('created_at', bigint('active_from')),
})

/** The columns of both tables. */
export const KEY_COLUMNS = without(SIGNING_KEYS, 'purpose')

export const INITIAL_TOKENS = table<InitialTokenRecord>({
  id: text('token_id'),
  name: text('name'),
  secretHash: text('token_hash'),
  template: json<RegistrationTemplate>('template', undefined, (stored) => ({
    ...USUAL_TEMPLATE,
    ...(stored as object),
  })),
  uses: bigint('uses'),
  usesLeft: bigint('uses_left'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
})

export const ADMIN_CREDENTIALS = table<AdminCredentialRecord>({
  id: text('credential_id'),
  name: text('name'),
  secretHash: text('secret_hash'),
  access: text('access'),
  organizationId: text('organization_id'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  revokedAt: bigint('revoked_at'),
})

export const AUDIT_LINKS = table<AuditLinkRecord>({
  id: text('link_id'),
  chainId: text('chain_id'),
  sequence: bigint('sequence'),
  recordedAt: bigint('recorded_at'),
  previousHash: text('previous_hash'),
  events: text('events'),
  hash: text('link_hash'),
})

/**
 * A scope as the column stores it. `users-on-request` is stored as `approved-clients` with a mark: a release that does not know
 * the mark then publishes the scope nowhere and gives it only to approved clients.
 */
type StoredScope = Omit<ApiScope, 'grantedTo'> & {
  readonly grantedTo: Exclude<ApiScope['grantedTo'], 'users-on-request'>
  readonly onRequest?: true
}

function storedScope({ name, sentence, grantedTo }: ApiScope): StoredScope {
  if (grantedTo !== 'users-on-request') return { name, sentence, grantedTo }
  return { name, sentence, grantedTo: 'approved-clients', onRequest: true }
}

function scopeOf({ name, sentence, grantedTo, onRequest }: StoredScope): ApiScope {
  return { name, sentence, grantedTo: onRequest === true ? 'users-on-request' : grantedTo }
}
