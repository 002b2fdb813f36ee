import { addKeysList } from './keys-list.ts'
import { addKeysRetire } from './keys-retire.ts'
import { addKeysRotate } from './keys-rotate.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor keys`. */
export const KEYS_VERBS: readonly AddVerb[] = [addKeysList, addKeysRotate, addKeysRetire]
