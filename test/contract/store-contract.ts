import { accountCases } from './accounts.ts'
import { authorizationCases } from './authorizations.ts'
import { batchCases } from './batches.ts'
import { clientCases } from './clients.ts'
import { runSuite, type OpenStores, type Suite } from './harness.ts'
import { keyCases } from './keys.ts'
import { operatorCases } from './operator.ts'
import { revocationCases } from './revocations.ts'
import { sharedClientCases } from './shared-clients.ts'
import { sweepCases } from './sweep.ts'
import { tokenCases } from './tokens.ts'

/**
 * What every store must do: each operation and each of its outcomes, races through two handles for what may happen once,
 * batches whose neighbours fail.
 */
export const CONTRACT: readonly Suite[] = [
  clientCases,
  sharedClientCases,
  authorizationCases,
  tokenCases,
  accountCases,
  operatorCases,
  keyCases,
  revocationCases,
  sweepCases,
  batchCases,
]

/** `store` names the store in the titles. */
export function checkStoreContract(store: string, open: OpenStores): void {
  for (const suite of CONTRACT) runSuite(store, open, suite)
}
