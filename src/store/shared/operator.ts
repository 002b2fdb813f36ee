import { openUnchangedRows } from '../unchanged-rows.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import { canonicalResource, sameResource } from '../../protocol/token/resource.ts'
import { ADMIN_CREDENTIALS } from '../nouns/server/admin-credentials.ts'
import { API_CHANGES, API_DEFINITIONS, APIS } from '../tables/api.ts'
import { DECLARING, ISSUER, setting, findSetting } from '../nouns/server/settings.ts'
import { assignments, isUnchanged, previousValues } from '../table.ts'
import { outcomeOf, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

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

/** One key for all identifiers of an API, so that they wait for each other. */
function apiKey(resource: string): readonly string[] {
  return [canonicalResource(resource)]
}

/** What the operator configures (APIs, administrators' credentials), and the settings that the server keeps for itself. */
export const operatorHandlers = {
  declareApi: {
    keys: ({ resource }) => apiKey(resource),
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
    *run({ previous, api }) {
      const [changes, before] = [API_CHANGES.values(api), previousValues(API_DEFINITIONS, previous)]
      const changed = yield* rows(UPDATE_API, { resource: api.resource, ...changes, ...before })
      return changed.length === 1 ? 'changed' : 'conflict'
    },
  },
  setApiCredentials: {
    keys: ({ resource }) => apiKey(resource),
    *run({ resource, credentials }) {
      return (yield* rows(SET_CREDENTIALS, { resource, ...credentials })).length === 1 ? 'changed' : 'unknown'
    },
  },
  deleteApi: {
    keys: apiKey,
    run: outcomeOf('delete from apis where resource = :id returning resource', 'deleted', 'unknown'),
  },
} satisfies SharedHandlers

const readApis = openUnchangedRows('resource', APIS.read)

export const operatorReads = {
  *listApis(): Steps<readonly ApiRecord[]> {
    return readApis(yield* rows(LIST_APIS))
  },

  *findIssuer(): Steps<string | undefined> {
    return yield* findSetting(ISSUER)
  },
}
