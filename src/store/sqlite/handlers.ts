import type { Input, OperationName, Outcome } from '../../ports/operations/index.ts'

/** One function for each operation, which runs inside the batch's transaction. */
export type Handlers = { readonly [Name in OperationName]: (input: Input<Name>) => Outcome<Name> }
