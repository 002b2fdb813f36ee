import { addPerformAuthorizationCode } from './perform-authorization-code.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor perform`. */
export const PERFORM_VERBS: readonly AddVerb[] = [addPerformAuthorizationCode]
