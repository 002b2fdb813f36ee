import { addGrantList } from './grant-list.ts'
import { addGrantRevoke } from './grant-revoke.ts'
import { addGrantShow } from './grant-show.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor grant`. */
export const GRANT_VERBS: readonly AddVerb[] = [addGrantList, addGrantShow, addGrantRevoke]
