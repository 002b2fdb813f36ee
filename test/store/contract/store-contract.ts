import { accountCases } from './accounts.ts'
import { administratorCases } from './administrators.ts'
import { auditCases } from './audit.ts'
import { authorizationCases } from './authorizations.ts'
import { batchCases } from './batches.ts'
import { clientCases } from './clients.ts'
import { documentClientCases } from './document-clients.ts'
import { domainRuleCases } from './domain-rules.ts'
import { runSuite, type OpenStores, type Suite } from './harness.ts'
import { consumedCases } from './consumed.ts'
import { deletionCases } from './deletions.ts'
import { evictionCases } from './evictions.ts'
import { grantListCases } from './grant-lists.ts'
import { identityCases } from './identities.ts'
import { eraCases } from './eras.ts'
import { initialTokenCases } from './initial-tokens.ts'
import { installationCases } from './installations.ts'
import { interactionCases } from './interactions.ts'
import { keyCases } from './keys.ts'
import { leaseCases } from './leases.ts'
import { linkCases } from './links.ts'
import { logoutNoticeCases } from './logout-notices.ts'
import { masterKeyCases } from './master-key.ts'
import { membershipCases } from './memberships.ts'
import { notBeforeCases } from './not-before.ts'
import { opaqueTokenCases } from './opaque-tokens.ts'
import { operatorClientCases } from './operator-clients.ts'
import { operatorCases } from './operator.ts'
import { organizationCases } from './organizations.ts'
import { providerCases } from './providers.ts'
import { registrationCountCases } from './registration-counts.ts'
import { revocationCases } from './revocations.ts'
import { sessionCases } from './sessions.ts'
import { sharedClientCases } from './shared-clients.ts'
import { sweepCases } from './sweep.ts'
import { textCases } from './texts.ts'
import { tokenCases } from './tokens.ts'
import { walkCases } from './walks.ts'

/**
 * What every store must do: each operation and each of its outcomes, races through two handles for operations that must
 * succeed once, and batches in which an operation fails.
 */
export const CONTRACT: readonly Suite[] = [
  clientCases,
  sharedClientCases,
  operatorClientCases,
  documentClientCases,
  authorizationCases,
  tokenCases,
  textCases,
  accountCases,
  sessionCases,
  linkCases,
  logoutNoticeCases,
  providerCases,
  identityCases,
  evictionCases,
  interactionCases,
  deletionCases,
  organizationCases,
  membershipCases,
  installationCases,
  grantListCases,
  operatorCases,
  domainRuleCases,
  initialTokenCases,
  opaqueTokenCases,
  administratorCases,
  keyCases,
  masterKeyCases,
  leaseCases,
  notBeforeCases,
  eraCases,
  revocationCases,
  consumedCases,
  registrationCountCases,
  sweepCases,
  walkCases,
  auditCases,
  batchCases,
]

/** `store` is the store's name in the titles. */
export function checkStoreContract(store: string, open: OpenStores): void {
  for (const suite of CONTRACT) runSuite(store, open, suite)
}
