import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rotation } from '../../../src/ports/operations/token.ts'
import type { GrantRecord } from '../../../src/ports/records/grant.ts'
import {
  decideRotation,
  findEarlier,
  type CopyFault,
  type RotateOutcome,
} from '../../../src/protocol/token/refresh-rotation.ts'
import {
  A_KEY,
  aFamily,
  aGrant,
  aHash,
  ANOTHER_KEY,
  aRotation,
  at,
  ELSEWHERE,
  HERE,
  HOUR,
} from '../../support/records.ts'

/** The generation of the newest token of each family. */
const NEWEST = 6000
const DAY = 24 * HOUR
const [LIVE, OTHER] = [aHash(), aHash()]
const GRANT = aGrant()
const ROTATION = aRotation(GRANT, { successorHash: aHash(), now: at(HOUR), earlierMs: 7 * DAY })

/** What a case may be. Each case of the matrix takes one value of each. */
const MATRIX = {
  behind: [-1, 0, 1, 2, 17, 5000],
  /** Whether the presented token of the newest generation is the one that was issued. */
  isIssued: [true, false],
  caller: [HERE, ELSEWHERE, ''],
  family: [HERE, ''],
  /** The generation from which on the family is bound to A_KEY. */
  boundSince: [undefined, 0, NEWEST - 1],
  key: [undefined, A_KEY, ANOTHER_KEY],
  copies: ['network', 'strict'],
  sinceRotation: [29_999, 30_000],
  heldFor: [undefined, HERE, ELSEWHERE],
  age: [7 * DAY - 1, 7 * DAY],
} as const

type Case = { readonly [Name in keyof typeof MATRIX]: (typeof MATRIX)[Name][number] }

/** The rule again, as its table has it: the first row that fits counts. */
const ROWS: readonly (readonly [
  row: number,
  fits: (one: Case) => boolean,
  outcome: RotateOutcome['kind'],
  why?: CopyFault,
])[] = [
  [3, ({ behind, isIssued }) => behind < 0 || (behind === 0 && !isIssued), 'reused'],
  [
    4,
    ({ behind, caller, heldFor }) => behind === 0 && heldFor !== undefined && heldFor !== caller,
    'reused',
    'elsewhere',
  ],
  [4, ({ behind }) => behind === 0, 'reused', 'another-key'],
  [5, ({ heldFor }) => heldFor !== undefined, 'held'],
  [6, (one) => one.behind === 1 && hasFamilyKey(one) && one.sinceRotation < 30_000, 'repeated'],
  [8, ({ copies }) => copies === 'strict', 'reused', 'strict'],
  [7, (one) => one.boundSince !== undefined && hasFamilyKey(one) && NEWEST - one.behind >= one.boundSince, 'earlier'],
  [8, ({ boundSince }) => boundSince !== undefined, 'reused', 'another-key'],
  [8, ({ caller, family }) => caller === '' || family === '', 'reused', 'network-unknown'],
  [9, ({ caller, family, age }) => caller === family && age < 7 * DAY, 'earlier'],
  [10, ({ caller, family }) => caller !== family, 'parted', 'elsewhere'],
  [10, () => true, 'parted', 'too-old'],
]

function hasFamilyKey({ boundSince, key }: Case): boolean {
  return boundSince === undefined ? key === undefined : key === A_KEY
}

function* cases(): Generator<Case> {
  let made: Partial<Case>[] = [{}]
  for (const [name, values] of Object.entries(MATRIX))
    made = made.flatMap((one) => values.map((value) => ({ ...one, [name]: value })))
  // Only of the newest generation another token than the issued one is a case of its own.
  for (const one of made as Case[]) if (one.isIssued || one.behind === 0) yield one
}

function grantOf({ boundSince, family: network, heldFor, sinceRotation }: Case): GrantRecord {
  const family = aFamily({ generation: NEWEST, liveHash: LIVE, network, heldFor, rotatedAt: at(HOUR - sinceRotation) })
  const boundKey = boundSince === undefined ? undefined : { thumbprint: A_KEY, generation: boundSince }
  return { ...GRANT, family, boundKey }
}

function rotationOf({ age, behind, caller: network, copies, isIssued, key }: Case): Rotation {
  const presentedHash = behind === 0 && isIssued ? LIVE : OTHER
  const presented = { generation: NEWEST - behind, presentedHash, issuedAt: at(HOUR - age) }
  return { ...ROTATION, ...presented, network, copies, key }
}

test('AG-01: what becomes of each token that was not rotated, by a second plain implementation of the table', () => {
  const seen = new Map<number, number>()
  let wrong: unknown
  for (const one of cases()) {
    const grant = grantOf(one)
    const outcome = decideRotation(grant, rotationOf(one))
    const [row, , kind, why] = ROWS.find(([, fits]) => fits(one)) ?? [0, () => false, undefined]
    seen.set(row, (seen.get(row) ?? 0) + 1)
    const isHeldElsewhere = one.heldFor !== undefined && one.heldFor !== one.caller
    const expected = {
      reused: { kind: 'reused', wasHeld: one.behind === 0 && one.isIssued && isHeldElsewhere, why },
      earlier: { kind: 'earlier', generation: NEWEST, rotatedAt: grant.family?.rotatedAt, liveHash: LIVE },
      repeated: { kind: 'repeated', rotatedAt: grant.family?.rotatedAt },
      parted: { kind: 'parted', newest: NEWEST, why },
      held: { kind: 'held' },
      rotated: undefined,
      inactive: undefined,
    }[kind ?? 'rotated']
    if (JSON.stringify(outcome) !== JSON.stringify(expected)) wrong ??= { one, row, outcome }
    const known = findEarlier(grant, rotationOf(one))
    if (JSON.stringify(known) !== JSON.stringify(kind === 'earlier' ? expected : undefined))
      wrong ??= { one, row, known }
  }
  assert.equal(wrong, undefined)
  assert.deepEqual(
    [...seen.keys()].toSorted((left, right) => left - right),
    [3, 4, 5, 6, 7, 8, 9, 10],
  )
})

test('AG-01: with strict copies the outcomes are those of the rule without copies', () => {
  for (const one of cases()) {
    if (one.copies !== 'strict' || one.heldFor !== undefined) continue
    const grant = grantOf(one)
    const isRepeat = one.behind === 1 && hasFamilyKey(one) && one.sinceRotation < 30_000
    assert.equal(decideRotation(grant, rotationOf(one)).kind, isRepeat ? 'repeated' : 'reused')
  }
})

test('AG-01: a family that is gone, revoked or expired is inactive, also where it is held', () => {
  const family = aFamily({ generation: 2, heldFor: HERE })
  const ends = [undefined, aGrant({ family: undefined }), aGrant({ family, revokedAt: at(1) })]
  const expired = [aGrant({ family, expiresAt: at(1000) }), aGrant({ family: { ...family, idleExpiresAt: at(1000) } })]
  for (const grant of [...ends, ...expired])
    assert.deepEqual(decideRotation(grant, aRotation(grant ?? aGrant(), { copies: 'network' })), { kind: 'inactive' })
})
