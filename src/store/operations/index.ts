import type { OperationName } from '../../ports/operations/index.ts'
import { NOUN_OPERATIONS } from '../nouns.ts'
import type { OperationRow } from '../noun.ts'

/** Every operation of the store. A new operation does not compile until it has a row here and a handler in each store. */
export const OPERATIONS = {
  ...NOUN_OPERATIONS,
} satisfies { readonly [Name in OperationName]: OperationRow<Name> }
