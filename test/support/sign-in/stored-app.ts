import assert from 'node:assert/strict'
import type { StoreNeeds } from '../../../src/ports/context.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import { aHash, at } from '../records.ts'
import { aSecondFactor, aSignInBasis } from './factor-records.ts'

/** Stores an app of a user, whose secret no server can decrypt, and ten recovery codes. Ends the sessions of the user. */
export async function storeApp({ store }: StoreNeeds<'enableTotp' | 'findUser'>, userId: UserId): Promise<void> {
  const { passwordHash, notBefore } = (await store.findUser(userId)) ?? {}
  const outcome = await store.enableTotp({
    factor: aSecondFactor({ userId }),
    recoveryDigests: Array.from({ length: 10 }, aHash),
    replaces: undefined,
    reason: { kind: 'sign-in', ...aSignInBasis({ since: notBefore ?? at(0), passwordHash }) },
    mails: [],
  })
  assert.equal(outcome, 'enabled')
}
