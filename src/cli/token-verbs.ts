import { addTokenExpireAll } from './token-expire-all.ts'
import { addTokenInspect } from './token-inspect.ts'
import { addTokenRevoke } from './token-revoke.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor token`. */
export const TOKEN_VERBS: readonly AddVerb[] = [addTokenInspect, addTokenRevoke, addTokenExpireAll]
