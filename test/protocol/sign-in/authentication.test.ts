import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  evaluateTime,
  levelOf,
  type SignInDemand,
  type StatedTime,
} from '../../../src/protocol/sign-in/authentication.ts'
import { after, type EpochMs } from '../../../src/base/brand.ts'

const NOW = 1_800_000_000_000 as EpochMs
const OFFSETS = [-86_400_000, -60_001, -60_000, -1, 0, 1, 60_000, 60_001, 3_600_000, Infinity]
const CLOCK = { now: NOW, toleranceMs: 60_000 }

const STATED: readonly StatedTime[] = [
  { kind: 'now' },
  { kind: 'unsaid' },
  ...OFFSETS.map((offset): StatedTime => ({ kind: 'said', at: after(NOW, offset) })),
]
/** The node that made the request may have a clock that is ahead. */
const DEMANDS: readonly (SignInDemand | undefined)[] = [
  undefined,
  ...[-86_400_000, -60_000, 0, 500].flatMap((offset) =>
    [true, false].map((isAfresh) => ({ after: after(NOW, offset), isAfresh })),
  ),
]

test('UP-24, OpenID Connect Core §3.1.3.7: each auth_time meets the demand of the client, or causes one more try or a refusal', () => {
  for (const stated of STATED) {
    for (const demand of DEMANDS) {
      const evaluated = evaluateTime(stated, demand, CLOCK)
      const message = JSON.stringify([stated, demand, evaluated])
      if (stated.kind === 'said' && stated.at > NOW + CLOCK.toleranceMs) {
        assert.deepEqual(evaluated, { kind: 'future' }, message)
        continue
      }
      if (demand === undefined) {
        const at = stated.kind === 'said' ? Math.min(stated.at, NOW) : stated.kind === 'now' ? NOW : undefined
        assert.deepEqual(evaluated, { kind: 'accepted', at }, message)
        continue
      }
      const isSaidInTime = stated.kind === 'said' && Math.min(stated.at, NOW) + CLOCK.toleranceMs >= demand.after
      const isBelieved = stated.kind === 'now' || (stated.kind === 'unsaid' && demand.isAfresh)
      if (!isSaidInTime && !isBelieved) {
        // Asked once more, and then refused: never a loop.
        assert.deepEqual(evaluated, { kind: demand.isAfresh ? 'too-old' : 'ask-again' }, message)
        continue
      }
      assert.ok(evaluated.kind === 'accepted' && evaluated.at !== undefined, message)
      assert.ok(evaluated.at >= demand.after && evaluated.at <= Math.max(NOW, demand.after), message)
      if (stated.kind === 'said' && stated.at >= demand.after) assert.ok(evaluated.at <= stated.at, message)
    }
  }
})

test('the level follows from the methods: a passkey is above two factors, and these above one', () => {
  const levels = [
    [['pwd'], 1],
    [['fed'], 1],
    [['pwd', 'otp', 'mfa'], 2],
    [['pwd', 'mfa'], 2],
    [['fed', 'mfa'], 2],
    [['fed', 'otp', 'mfa'], 2],
    [['pwd', 'pop', 'mfa'], 3],
    [['pop', 'mfa'], 3],
  ] as const
  for (const [methods, level] of levels) assert.equal(levelOf(methods), level, methods.join(' '))
})
