import type { ApiCredentials, ApiDefinition, ApiRecord } from '../records/api.ts'

/** The operations on APIs, each as `[input, outcome]`. The rules of index.ts apply. */
export interface ApiOperations {
  /** Declares an API, without credentials. `taken`: the resource is declared, or another text of it (`sameResource`). */
  declareApi: [api: Omit<ApiRecord, 'credentials' | 'scopesSince'>, outcome: 'declared' | 'taken']
  /** Replaces the operator's definition of an API if it still equals `previous`. */
  updateApi: [
    update: { readonly previous: ApiDefinition; readonly api: Omit<ApiRecord, 'credentials' | 'createdAt'> },
    outcome: 'changed' | 'conflict',
  ]
  /** Replaces the credentials that the API authenticates with. */
  setApiCredentials: [
    change: { readonly resource: string; readonly credentials: ApiCredentials },
    outcome: 'changed' | 'unknown',
  ]
  deleteApi: [resource: string, outcome: 'deleted' | 'unknown']
}
