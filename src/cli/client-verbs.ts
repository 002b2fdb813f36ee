import { addClientApproveScopes } from './client-approve-scopes.ts'
import { addClientDelete } from './client-delete.ts'
import { addClientDisable } from './client-disable.ts'
import { addClientEnable } from './client-enable.ts'
import { addClientExpire } from './client-expire.ts'
import { addClientList } from './client-list.ts'
import { addClientRotateSecret } from './client-rotate-secret.ts'
import { addClientShow } from './client-show.ts'
import { addClientUnverify } from './client-unverify.ts'
import { addClientVerify } from './client-verify.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor client`. */
export const CLIENT_VERBS: readonly AddVerb[] = [
  addClientList,
  addClientShow,
  addClientVerify,
  addClientUnverify,
  addClientApproveScopes,
  addClientRotateSecret,
  addClientDisable,
  addClientEnable,
  addClientExpire,
  addClientDelete,
]
