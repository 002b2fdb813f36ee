import { addApiCreate } from './api-create.ts'
import { addApiCredentials } from './api-credentials.ts'
import { addApiDelete } from './api-delete.ts'
import { addApiList } from './api-list.ts'
import { addApiShow } from './api-show.ts'
import { addApiUpdate } from './api-update.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor api`. */
export const API_VERBS: readonly AddVerb[] = [
  addApiCreate,
  addApiList,
  addApiShow,
  addApiUpdate,
  addApiCredentials,
  addApiDelete,
]
