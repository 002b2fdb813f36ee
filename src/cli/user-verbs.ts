import { addUserCreate } from './user-create.ts'
import { addUserDelete } from './user-delete.ts'
import { addUserDisable } from './user-disable.ts'
import { addUserEnable } from './user-enable.ts'
import { addUserExpire } from './user-expire.ts'
import { addUserList } from './user-list.ts'
import { addUserSetPassword } from './user-set-password.ts'
import { addUserShow } from './user-show.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor user`. */
export const USER_VERBS: readonly AddVerb[] = [
  addUserCreate,
  addUserList,
  addUserShow,
  addUserSetPassword,
  addUserDisable,
  addUserEnable,
  addUserExpire,
  addUserDelete,
]
