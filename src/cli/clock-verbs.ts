import { addClockConfirm } from './clock-confirm.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor clock`. */
export const CLOCK_VERBS: readonly AddVerb[] = [addClockConfirm]
