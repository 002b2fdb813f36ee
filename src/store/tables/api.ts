import { bigint, flag, group, json, type Member, optionalGroup, table, text } from '../table.ts'
import type { ApiDefinition, ApiRecord, ApiScope, ApiTokens, ExchangeRule } from '../../ports/records/api.ts'
import type { EpochMs } from '../../base/brand.ts'

const definition = {
  name: text<string | undefined>('name'),
  scopes: json<readonly ApiScope[]>(
    'scopes',
    (scopes) => scopes.map(storedScope),
    (stored) => (stored as readonly ApiScope[]).map(restoredScope),
  ),
  tokens: group<ApiTokens>({
    format: text('token_format'),
    lifetime: bigint('token_lifetime'),
    algorithm: text('algorithm'),
    jwtType: text('jwt_type'),
    applicationSubject: flag('application_subject'),
    binding: text('token_binding'),
  }),
  // The members have one order, because an update compares the text.
  exchange: json<readonly ExchangeRule[]>('exchange', (rules) =>
    rules.map(({ resource, scope }) => ({ resource, scope })),
  ),
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

/** The members have one order, because an update compares the text. */
function storedScope({ name, sentence, grantedTo, stepUp }: ApiScope): ApiScope {
  const requirement = stepUp && { level: stepUp.level, maxAge: stepUp.maxAge }
  return { name, sentence, grantedTo, ...(requirement && { stepUp: requirement }) }
}

/** JSON has no undefined. */
function restoredScope({ stepUp, ...scope }: ApiScope): ApiScope {
  return stepUp === undefined ? scope : { ...scope, stepUp: { level: stepUp.level, maxAge: stepUp.maxAge } }
}
