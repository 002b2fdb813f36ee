import { addAdminCreate } from './admin-create.ts'
import { addAdminList } from './admin-list.ts'
import { addAdminOpenapi } from './admin-openapi.ts'
import { addAdminRevoke } from './admin-revoke.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor admin`. */
export const ADMIN_VERBS: readonly AddVerb[] = [addAdminCreate, addAdminList, addAdminRevoke, addAdminOpenapi]
