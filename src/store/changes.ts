import type { Input, Operation, OperationName } from '../ports/store.ts'

type Change<Name extends OperationName> = 'nothing' | 'everything' | ((input: Input<Name>) => string)

/** Which kept record each operation changes. A new operation does not compile without an answer. */
const CHANGES: { readonly [Name in OperationName]: Change<Name> } = {
  registerClient: 'nothing',
  // Until when a client is held is not part of its record.
  shareClient: 'nothing',
  useClient: ({ id }) => id,
  holdClient: 'nothing',
  updateClient: ({ id }) => id,
  deleteClient: (id) => id,
  verifyClient: ({ id }) => id,
  unverifyClient: (id) => id,
  disableClient: ({ id }) => id,
  enableClient: (id) => id,
  startAuthorization: 'nothing',
  approveAuthorization: 'nothing',
  denyAuthorization: 'nothing',
  redeemCode: 'nothing',
  burnCode: 'nothing',
  rotateRefreshToken: 'nothing',
  revokeGrant: 'nothing',
  revokeToken: 'nothing',
  createUser: 'nothing',
  setPassword: ({ id }) => id,
  disableUser: ({ id }) => id,
  enableUser: ({ id }) => id,
  startSession: 'nothing',
  endSession: 'nothing',
  countHit: 'nothing',
  forgiveHit: 'nothing',
  declareApi: 'nothing',
  setApiCredentials: 'nothing',
  deleteApi: 'nothing',
  addFirstKey: 'nothing',
  addKey: 'nothing',
  removeKey: 'nothing',
  settle: 'nothing',
  sweepExpired: 'everything',
}

/** Which kept client or user an operation changes: none, all, or the one of this id. */
export function changedRecord({ name, input }: Operation): undefined | 'everything' | { readonly id: string } {
  const change = CHANGES[name] as Change<OperationName>
  if (change === 'nothing') return undefined
  return change === 'everything' ? change : { id: (change as (input: unknown) => string)(input) }
}
