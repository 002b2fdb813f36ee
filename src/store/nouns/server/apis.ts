import type { Input } from '../../../ports/operations/index.ts'
import type { ApiDefinition, ApiRecord, ApiScope, ApiTokens, ExchangeRule } from '../../../ports/records/api.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { GroupClaim } from '../../../protocol/access/group-claim.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { LocalizedText } from '../../../base/localized-text.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import { canonicalResource, sameResource } from '../../../protocol/token/resource.ts'
import { differences, differencesOfWords, type NounOperations, when } from '../../noun.ts'
import { DECLARING, ISSUER, setting, findSetting } from './settings.ts'
import { outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'
import {
  bigint,
  flag,
  group,
  json,
  type Member,
  optionalGroup,
  table,
  text,
  assignments,
  isUnchanged,
  previousValues,
} from '../../table.ts'
import { openUnchangedRows } from '../../unchanged-rows.ts'

const definition = {
  // A plain name has no space at its start, so a text with one is JSON.
  name: {
    columns: [
      {
        name: 'name',
        type: 'text',
        write: (name) => (name === undefined ? null : typeof name === 'string' ? name : ` ${JSON.stringify(name)}`),
      },
    ],
    read: ({ name }) => {
      const stored = (name ?? undefined) as string | undefined
      return stored?.startsWith(' ') === true ? (JSON.parse(stored) as LocalizedText) : stored
    },
  } satisfies Member<ApiRecord['name']>,
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
  groups: {
    columns: [{ name: 'group_claim', type: 'text', write: (claim) => (claim === undefined ? null : claimText(claim)) }],
    read: ({ group_claim: stored }) => (stored === null ? undefined : (JSON.parse(stored as string) as GroupClaim)),
  } satisfies Member<ApiRecord['groups']>,
  // The members have one order, because an update compares the text.
  exchange: json<readonly ExchangeRule[]>('exchange', (rules) =>
    rules.map(({ resource, scope }) => ({ resource, scope })),
  ),
}

/** The columns that the operator defines. An update compares them with what its caller read. */
const API_DEFINITIONS = table<Omit<ApiDefinition, 'resource'>>(definition)

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

const LIST_RESOURCES = shared('select resource from apis')
const DECLARE_API = shared(
  `insert into apis (${APIS.names}) values (${APIS.parameters}) on conflict (resource) do nothing returning resource`,
)
const UPDATE_API = shared(
  `update apis set ${assignments(API_CHANGES)}
   where resource = :resource and ${isUnchanged(API_DEFINITIONS)} returning resource`,
)
const SET_CREDENTIALS = shared(
  'update apis set credential_id = :id, secret_hash = :secretHash where resource = :resource returning resource',
)
const LIST_APIS = shared('select * from apis order by resource')

const readApis = openUnchangedRows('resource', APIS.read)

/** The APIs that the operator declares. */
const operations = {
  declareApi: {
    keys: ({ resource }) => apiKey(resource),
    cache: 'kept',
    event: when('declared', (api) => {
      const { event, details } = aboutApi('api.created')(api)
      return { event, details: { ...details, ...aboutGroups(undefined, api.groups) } }
    }),
    *run(api) {
      // Declarations wait for each other, so that the next statement sees a concurrent insert.
      yield* setting(DECLARING, api.resource)
      const declared = yield* rows(LIST_RESOURCES, {})
      if (declared.some(({ resource }) => sameResource(String(resource), api.resource))) return 'taken'
      const values = APIS.values({ ...api, credentials: undefined, scopesSince: new Map() })
      return (yield* rows(DECLARE_API, values)).length === 1 ? 'declared' : 'taken'
    },
  },
  updateApi: {
    keys: ({ api }) => apiKey(api.resource),
    cache: 'kept',
    event: when('changed', aboutUpdate),
    *run({ previous, api }) {
      const [changes, before] = [API_CHANGES.values(api), previousValues(API_DEFINITIONS, previous)]
      const changed = yield* rows(UPDATE_API, { resource: api.resource, ...changes, ...before })
      return changed.length === 1 ? 'changed' : 'conflict'
    },
  },
  setApiCredentials: {
    keys: ({ resource }) => apiKey(resource),
    cache: 'kept',
    event: when('changed', aboutApi('api.credentials-set')),
    *run({ resource, credentials }) {
      return (yield* rows(SET_CREDENTIALS, { resource, ...credentials })).length === 1 ? 'changed' : 'unknown'
    },
  },
  deleteApi: {
    keys: apiKey,
    cache: 'kept',
    event: when('deleted', (resource) => aboutApi('api.deleted')({ resource })),
    run: outcomeOf('delete from apis where resource = :id returning resource', 'deleted', 'unknown'),
  },
} satisfies NounOperations

const reads = {
  *listApis(): Steps<readonly ApiRecord[]> {
    return readApis(yield* rows(LIST_APIS))
  },
  *findIssuer(): Steps<string | undefined> {
    return yield* findSetting(ISSUER)
  },
}

export const apis = { operations, reads }

/** The members have one order, for the same reason. */
function claimText({ name, words }: GroupClaim): string {
  return JSON.stringify({ name, words: words.map(({ group: id, word }) => ({ group: id, word })) })
}

/** The members have one order, because an update compares the text. */
function storedScope({ name, sentence, grantedTo, stepUp }: ApiScope): ApiScope {
  const requirement = stepUp && { level: stepUp.level, maxAge: stepUp.maxAge }
  return { name, sentence, grantedTo, ...(requirement && { stepUp: requirement }) }
}

/** JSON has no undefined. */
function restoredScope({ stepUp, ...scope }: ApiScope): ApiScope {
  return stepUp === undefined ? scope : { ...scope, stepUp: { level: stepUp.level, maxAge: stepUp.maxAge } }
}

/** One key for all identifiers of an API, so that they wait for each other. */
function apiKey(resource: string): readonly string[] {
  return [canonicalResource(resource)]
}

function aboutUpdate({ previous, api }: Input<'updateApi'>): AuditEvent {
  const { event, details } = aboutApi('api.updated')(api)
  const [before, now] = [previous, api].map(
    ({ exchange }) => new Map(exchange.map((rule) => [rule.resource, rule.scope])),
  )
  const changed = api.exchange.filter(({ resource, scope }) => (before?.get(resource) ?? scope) !== scope)
  return {
    event,
    details: {
      ...details,
      ...aboutGroups(previous.groups, api.groups),
      ...differences('exchange_from', [...(before?.keys() ?? [])], [...(now?.keys() ?? [])]),
      ...(changed.length > 0 && { exchange_from_changed: changed.map(({ resource }) => resource).join(' ') }),
    },
  }
}

/** `groups`: the claim, if it is another one. */
function aboutGroups(before: GroupClaim | undefined, now: GroupClaim | undefined): Readonly<Record<string, string>> {
  return { ...(before?.name !== now?.name && { groups: now?.name ?? 'off' }), ...differencesOfWords(before, now) }
}

function aboutApi(event: AuditEventName) {
  return ({ resource }: { readonly resource: string }): AuditEvent => ({ event, details: { resource } })
}
