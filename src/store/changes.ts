import type { Input, Operation, OperationName } from '../ports/operations.ts'
import type { InstallationKey, MembershipKey } from '../ports/operation-inputs.ts'

type Change<Name extends OperationName> = 'nothing' | 'everything' | ((input: Input<Name>) => string)

/** Which cached record each operation changes. A new operation does not compile until it has an entry. */
const CHANGES: { readonly [Name in OperationName]: Change<Name> } = {
  registerClient: 'nothing',
  // The time until which a client is kept from being swept is not part of its record.
  registerPublicClient: 'nothing',
  useClient: ({ id }) => id,
  extendRetention: 'nothing',
  updateClient: ({ id }) => id,
  deleteClient: 'everything',
  verifyClient: ({ id }) => id,
  unverifyClient: (id) => id,
  disableClient: ({ id }) => id,
  enableClient: (id) => id,
  rotateClientSecret: ({ id }) => id,
  approveClientScope: ({ id }) => id,
  expireClient: ({ id }) => id,
  // No decision depends on when a client was last used.
  noteUses: 'nothing',
  startAuthorization: 'nothing',
  approveAuthorization: 'nothing',
  denyAuthorization: 'nothing',
  redeemCode: 'nothing',
  burnCode: 'nothing',
  rotateRefreshToken: 'nothing',
  revokeGrant: 'nothing',
  issueToken: 'nothing',
  revokeToken: 'nothing',
  createUser: 'nothing',
  setPassword: ({ id }) => id,
  disableUser: ({ id }) => id,
  enableUser: ({ id }) => id,
  deleteUser: 'everything',
  expireUser: ({ id }) => id,
  expireEverything: 'nothing',
  createOrganization: 'nothing',
  renameOrganization: ({ id }) => id,
  disableOrganization: ({ id }) => id,
  enableOrganization: ({ id }) => id,
  expireOrganization: ({ id }) => id,
  deleteOrganization: 'everything',
  addMember: membershipKey,
  disableMember: membershipKey,
  enableMember: membershipKey,
  removeMember: membershipKey,
  install: installationKey,
  disableInstallation: installationKey,
  enableInstallation: installationKey,
  uninstall: installationKey,
  startSession: 'nothing',
  endSession: 'nothing',
  countHit: 'nothing',
  forgiveHit: 'nothing',
  declareApi: 'nothing',
  updateApi: 'nothing',
  setApiCredentials: 'nothing',
  deleteApi: 'nothing',
  addFirstKey: 'nothing',
  addKey: 'nothing',
  removeKey: 'nothing',
  noteServerAlgorithm: 'nothing',
  noteClock: 'nothing',
  confirmClock: 'nothing',
  insertSettingOnce: 'nothing',
  createAdminCredential: 'nothing',
  revokeAdminCredential: 'nothing',
  recordEvent: 'nothing',
  sweepExpired: 'everything',
}

/** The cache key of a membership. */
export function membershipKey({ userId, organizationId }: MembershipKey): string {
  return `${userId} ${organizationId}`
}

/** The cache key of an installation. */
export function installationKey({ clientId, organizationId }: InstallationKey): string {
  return `${clientId} ${organizationId}`
}

/** Which cached records an operation changes: none, all, or the one with this id. */
export function changedRecord({ name, input }: Operation): undefined | 'everything' | { readonly id: string } {
  const change = CHANGES[name] as Change<OperationName>
  if (change === 'nothing') return undefined
  return change === 'everything' ? change : { id: (change as (input: unknown) => string)(input) }
}
