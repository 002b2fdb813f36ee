import type { Value } from '../rows.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { bigint, json, optionalGroup, optionalScope, table, text } from '../table.ts'
import { type ClientRules, DEFAULT_RULES } from '../../protocol/client/policy.ts'

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
  chosenId: text('chosen_id'),
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
  approvedScope: optionalScope('approved_scope'),
  notBefore: bigint('not_before'),
  lastUsedAt: bigint('last_used_at'),
})
