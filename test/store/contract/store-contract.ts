import { accountCases } from './user/accounts.ts'
import { importedUserCases } from './user/imported-users.ts'
import { passwordUpgradeCases } from './user/password-upgrades.ts'
import { administratorCases } from './server/administrators.ts'
import { appliedSetCases } from './server/applied-sets.ts'
import { auditCases } from './server/audit.ts'
import { authorizationCases } from './token/authorizations.ts'
import { batchCases } from './server/batches.ts'
import { clientCases } from './client/clients.ts'
import { idleClientCases } from './client/idle-clients.ts'
import { documentClientCases } from './client/document-clients.ts'
import { deviceModelCases } from './token/device-model.ts'
import { domainRuleCases } from './client/domain-rules.ts'
import { runSuite, type OpenStores, type Suite } from './harness.ts'
import { consumedCases } from './token/consumed.ts'
import { deletionCases } from './organization/deletions.ts'
import { evictionCases } from './client/evictions.ts'
import { grantListCases } from './token/grant-lists.ts'
import { accessRuleCases } from './organization/access-rules.ts'
import { groupCases } from './organization/groups.ts'
import { identityGroupCases } from './organization/identity-groups.ts'
import { protectedGroupCases } from './organization/protected-groups.ts'
import { providerGroupCases } from './organization/provider-groups.ts'
import { identityCases } from './user/identities.ts'
import { figureCases } from './server/figures.ts'
import { eraCases } from './server/eras.ts'
import { initialTokenCases } from './client/initial-tokens.ts'
import { installationCases } from './organization/installations.ts'
import { interactionCases } from './user/interactions.ts'
import { keyCases } from './server/keys.ts'
import { leaseCases } from './server/leases.ts'
import { changeCases } from './user/changes.ts'
import { emailCodeCases } from './user/email-codes.ts'
import { evictionMatrixCases } from './user/eviction-matrix.ts'
import { spellingCases } from './user/spellings.ts'
import { linkCases, linkFactorCases } from './user/links.ts'
import { logoutNoticeCases } from './user/logout-notices.ts'
import { mailCases } from './user/mails.ts'
import { masterKeyCases } from './server/master-key.ts'
import { membershipCases } from './organization/memberships.ts'
import { notBeforeCases } from './token/not-before.ts'
import { opaqueTokenCases } from './token/opaque-tokens.ts'
import { operatorClientCases } from './client/operator-clients.ts'
import { operatorCases } from './server/operator.ts'
import { organizationCases } from './organization/organizations.ts'
import { passkeyCases } from './user/passkeys.ts'
import { providerCases } from './user/providers.ts'
import { deviceCases } from './token/devices.ts'
import { pushedRequestCases } from './token/pushed-requests.ts'
import { registrationCountCases } from './client/registration-counts.ts'
import { revocationCases } from './token/revocations.ts'
import { reachCases } from './user/reach.ts'
import { roleCases } from './user/roles.ts'
import { secondFactorCases } from './user/second-factors.ts'
import { sessionCases } from './user/sessions.ts'
import { sharedClientCases } from './client/shared-clients.ts'
import { sweepCases } from './server/sweep.ts'
import { textCases } from './server/texts.ts'
import { tokenCases } from './token/tokens.ts'
import { copyCases } from './token/copies.ts'
import { userListCases } from './user/user-lists.ts'
import { userSearchCases } from './user/user-search.ts'
import { waitCases } from './user/waits.ts'
import { walkCases } from './server/walks.ts'

/**
 * What every store must do: each operation and each of its outcomes, races through two handles for operations that must
 * succeed once, and batches in which an operation fails.
 */
export const CONTRACT: readonly Suite[] = [
  clientCases,
  idleClientCases,
  sharedClientCases,
  operatorClientCases,
  documentClientCases,
  authorizationCases,
  pushedRequestCases,
  deviceCases,
  deviceModelCases,
  tokenCases,
  copyCases,
  textCases,
  accountCases,
  passwordUpgradeCases,
  importedUserCases,
  sessionCases,
  linkCases,
  linkFactorCases,
  changeCases,
  waitCases,
  emailCodeCases,
  spellingCases,
  reachCases,
  userListCases,
  userSearchCases,
  roleCases,
  secondFactorCases,
  passkeyCases,
  logoutNoticeCases,
  mailCases,
  providerCases,
  identityCases,
  evictionCases,
  evictionMatrixCases,
  interactionCases,
  deletionCases,
  organizationCases,
  membershipCases,
  accessRuleCases,
  groupCases,
  identityGroupCases,
  protectedGroupCases,
  providerGroupCases,
  installationCases,
  grantListCases,
  operatorCases,
  appliedSetCases,
  domainRuleCases,
  initialTokenCases,
  opaqueTokenCases,
  administratorCases,
  keyCases,
  masterKeyCases,
  leaseCases,
  notBeforeCases,
  eraCases,
  figureCases,
  revocationCases,
  consumedCases,
  registrationCountCases,
  sweepCases,
  walkCases,
  auditCases,
  batchCases,
]

/**
 * Tables of cases that show which outcome an operation has for which facts. A store that Citus distributes decides in the same way, after
 * it has waited for what it reads, and the cases of each operation show that; only a real Citus runs the tables again (prove/citus).
 */
export const OUTCOME_TABLES: readonly Suite[] = [waitCases, evictionMatrixCases, deviceModelCases, linkFactorCases]

/** `store` is the store's name in the titles. */
export function checkStoreContract(store: string, open: OpenStores): void {
  for (const suite of CONTRACT) runSuite(store, open, suite)
}
