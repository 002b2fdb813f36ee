import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import type { ApiDefinition, ApiRecord, ApiScope, ApiTokens } from '../ports/records/api.ts'
import type { AuditLinkRecord } from '../ports/records/audit.ts'
import type { DomainRuleRecord } from '../ports/records/domain-rule.ts'
import type { InitialTokenRecord } from '../ports/records/initial-token.ts'
import type { KeyRecord } from '../ports/records/key.ts'
import type { EpochMs } from '../base/brand.ts'
import { DEFAULT_TEMPLATE, type RegistrationTemplate } from '../protocol/client/registration-template.ts'
import { bigint, flag, group, json, optionalGroup, table, text, type Member } from './table.ts'

/** The tables of what the operator configures and of the audit, as in tables.ts. */

const definition = {
  name: text<string | undefined>('name'),
  scopes: json<readonly ApiScope[]>('scopes', (scopes) => scopes.map(storedScope)),
  tokens: group<ApiTokens>({
    format: text('token_format'),
    lifetime: bigint('token_lifetime'),
    algorithm: text('algorithm'),
    jwtType: text('jwt_type'),
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

export const SIGNING_KEYS = table<KeyRecord>({
  id: text('key_id'),
  purpose: text('purpose'),
  algorithm: text('algorithm'),
  publicJwk: text('public_jwk'),
  encryptedPrivateKey: text('encrypted_private_key'),
  createdAt: bigint('created_at'),
  activeFrom: bigint('active_from'),
})

export const INITIAL_TOKENS = table<InitialTokenRecord>({
  id: text('token_id'),
  name: text('name'),
  secretHash: text('token_hash'),
  template: json<RegistrationTemplate>('template', undefined, (stored) => ({
    ...DEFAULT_TEMPLATE,
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

/** The members have one order, because an update compares the text. */
function storedScope({ name, sentence, grantedTo }: ApiScope): ApiScope {
  return { name, sentence, grantedTo }
}
