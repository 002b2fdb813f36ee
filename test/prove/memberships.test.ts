import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLinearizable } from '../../prove/cluster/linearizable.ts'
import { MEMBERSHIP } from '../../prove/nodes/memberships.ts'

test('the proof of memberships accepts what a node may have read before a change, and no answer that is older', () => {
  const removed = { input: 'remove', output: true, invokedAt: 2000, returnedAt: 2010 } as const
  /** `at`: of the call. It may take effect a second earlier. */
  const seen = (output: boolean, at: number) =>
    ({ input: 'introspect', output, invokedAt: at - 1000, returnedAt: at + 5 }) as const
  assert.ok(isLinearizable([removed, seen(true, 2500), seen(false, 3100)], MEMBERSHIP))
  assert.ok(!isLinearizable([removed, seen(true, 3100)], MEMBERSHIP), 'it is still active after a second')
  assert.ok(!isLinearizable([removed, seen(false, 1500)], MEMBERSHIP), 'it ended before the removal')
})
