import assert from 'node:assert/strict'
import type { Rotation } from '../../../../src/ports/operations/token.ts'
import type { GrantRecord } from '../../../../src/ports/records/grant.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { A_KEY, aHash, aRotation, at, ELSEWHERE, HERE, HOUR } from '../../../support/records.ts'
import { aLiveGrant } from './tokens.ts'

const THIRD = 'networkC'

/** Copies of a refresh token (decision 0054): what the store answers to an earlier token, and what it changes. */
export const copyCases: Suite = (check) => {
  check('AG-01: each outcome for an earlier token, in one batch, with what it leaves in the row', async ({ first }) => {
    const families = await Promise.all(times(6, () => aFamilyOf(first)))
    const [one, two, three, four, five, six] = families as [Family, Family, Family, Family, Family, Family]
    const bound = await aFamilyOf(first, { boundKey: { thumbprint: A_KEY, generation: 0 } })
    const strict = await aFamilyOf(first)
    await perform(first, 'rotateRefreshToken', earlier(four, { network: ELSEWHERE }))
    await perform(first, 'rotateRefreshToken', earlier(five, { network: ELSEWHERE }))
    const all = [one, two, three, four, five, six, bound, strict]
    const before = await Promise.all(all.map(({ grant }) => first.findGrant(grant.id)))
    const outcomes = await performAll(first, 'rotateRefreshToken', [
      earlier(one),
      earlier(two, { network: ELSEWHERE }),
      earlier(three, { issuedAt: at(-200 * HOUR) }),
      earlier(four, { network: ELSEWHERE }),
      newest(five, { network: THIRD }),
      newest(six, { network: ELSEWHERE }),
      earlier(bound, { network: ELSEWHERE, issuedAt: at(-200 * HOUR) }),
      earlier(strict, { copies: 'strict' }),
    ])
    const handed = ({ newestHash: liveHash }: Family) => ({
      kind: 'earlier',
      generation: 2,
      rotatedAt: at(2000),
      liveHash,
    })
    const expected: readonly (readonly [outcome: object, change: (grant: GrantRecord) => GrantRecord])[] = [
      [handed(one), (grant) => grant],
      [{ kind: 'parted', newest: 2, why: 'elsewhere' }, (grant) => held(grant, ELSEWHERE)],
      [{ kind: 'parted', newest: 2, why: 'too-old' }, (grant) => held(grant, HERE)],
      [{ kind: 'held' }, (grant) => grant],
      [{ kind: 'reused', wasHeld: true, why: 'elsewhere' }, (grant) => ({ ...grant, revokedAt: LATE })],
      [{ kind: 'rotated', rotatedAt: LATE }, (grant) => rotated(grant, ELSEWHERE)],
      [handed(bound), (grant) => grant],
      [{ kind: 'reused', wasHeld: false, why: 'strict' }, (grant) => ({ ...grant, revokedAt: LATE })],
    ]
    assert.deepEqual(
      outcomes,
      expected.map(([outcome]) => outcome),
    )
    for (const [index, { grant }] of all.entries()) {
      const was = before[index]
      assert.ok(was)
      assert.deepEqual(withoutHash(await first.findGrant(grant.id)), withoutHash(expected[index]?.[1](was)))
    }
  })

  check(
    'AG-05: the newest token ends a hold in the network that it is for, and the family nowhere else',
    async (stores) => {
      const { first, second } = stores
      const [back, away] = [await aFamilyOf(first), await aFamilyOf(first)]
      for (const family of [back, away]) {
        assert.equal(
          (await perform(first, 'rotateRefreshToken', earlier(family, { network: ELSEWHERE }))).kind,
          'parted',
        )
      }
      const ending = newest(back, { network: ELSEWHERE })
      assert.deepEqual(await perform(second, 'rotateRefreshToken', ending), { kind: 'rotated', rotatedAt: LATE })
      assert.deepEqual((await first.findGrant(back.grant.id))?.family, {
        generation: 3,
        liveHash: ending.successorHash,
        rotatedAt: LATE,
        idleExpiresAt: ending.idleExpiresAt,
        network: ELSEWHERE,
        heldFor: undefined,
      })
      for (const network of [HERE, '']) {
        const family = network === HERE ? away : await aFamilyOf(first)
        await perform(first, 'rotateRefreshToken', earlier(family, { network: ELSEWHERE }))
        const outcome = await perform(second, 'rotateRefreshToken', newest(family, { network }))
        assert.deepEqual(outcome, { kind: 'reused', wasHeld: true, why: 'elsewhere' })
        assert.equal((await first.findGrant(family.grant.id))?.revokedAt, LATE)
      }
    },
  )

  check(
    'AG-09: the first hold stays: an earlier token, from anywhere, changes a held family no more',
    async ({ first }) => {
      const family = await aFamilyOf(first)
      await perform(first, 'rotateRefreshToken', earlier(family, { network: ELSEWHERE }))
      const before = await first.findGrant(family.grant.id)
      for (const network of [THIRD, HERE, ELSEWHERE, ''])
        assert.deepEqual(await perform(first, 'rotateRefreshToken', earlier(family, { network })), { kind: 'held' })
      assert.deepEqual(await first.findGrant(family.grant.id), before)
    },
  )

  check('AG-04, AG-14: of concurrent earlier tokens of two other networks one holds the family', async (stores) => {
    const family = await aFamilyOf(stores.first)
    const networks = [ELSEWHERE, THIRD]
    const rotations = times(20, (index) => earlier(family, { network: networks[Math.floor(index / 2) % 2] ?? '' }))
    const outcomes = await race(stores, 'rotateRefreshToken', rotations)
    assert.deepEqual(tally(outcomes), { parted: 1, held: 19 })
    const heldFor = (await stores.second.findGrant(family.grant.id))?.family?.heldFor
    assert.equal(heldFor, rotations[outcomes.findIndex(({ kind }) => kind === 'parted')]?.network)
  })

  check(
    'AG-14: of a parting and a rotation one is first, and the outcomes and the row agree with it',
    async (stores) => {
      const { first, second } = stores
      for (const network of [HERE, ELSEWHERE, HERE, ELSEWHERE]) {
        const families = await Promise.all(times(10, () => aFamilyOf(first)))
        const pairs = await Promise.all(
          families.map((family) =>
            Promise.all([
              perform(first, 'rotateRefreshToken', earlier(family, { network: ELSEWHERE })),
              perform(second, 'rotateRefreshToken', newest(family, { network })),
            ]),
          ),
        )
        for (const [index, [late, live]] of pairs.entries()) {
          const grant = await first.findGrant(families[index]?.grant.id ?? ('' as never))
          const end = [late.kind, live.kind, grant?.family?.heldFor, grant?.revokedAt === undefined].join(' ')
          // Where the newest token came from elsewhere first, the earlier one is in its network; the other order ends the hold, or the family.
          const possible =
            network === ELSEWHERE
              ? ['earlier rotated  true', 'parted rotated  true']
              : [`parted rotated ${ELSEWHERE} true`, `parted reused ${ELSEWHERE} false`]
          assert.ok(possible.includes(end), end)
        }
      }
    },
  )

  check('AG-14: of a parting and a revocation the family is revoked, in either order', async (stores) => {
    const { first, second } = stores
    const families = await Promise.all(times(20, () => aFamilyOf(first)))
    const outcomes = await Promise.all(
      families.map(async (family) => {
        const [late, revoked] = await Promise.all([
          perform(first, 'rotateRefreshToken', earlier(family, { network: ELSEWHERE })),
          perform(second, 'revokeGrant', { id: family.grant.id, now: LATE, about: undefined as never }),
        ])
        return `${late.kind} ${revoked}`
      }),
    )
    for (const outcome of outcomes) assert.ok(['parted revoked', 'inactive revoked'].includes(outcome), outcome)
    for (const { grant } of families) assert.equal((await second.findGrant(grant.id))?.revokedAt, LATE)
  })

  check('AG-16: a hold is of its own family, and no other of the same user and client', async ({ first }) => {
    const one = await aFamilyOf(first)
    const two = await aFamilyOf(first, { clientId: one.grant.clientId, userId: one.grant.userId })
    const before = await first.findGrant(two.grant.id)
    assert.equal((await perform(first, 'rotateRefreshToken', earlier(one, { network: ELSEWHERE }))).kind, 'parted')
    assert.deepEqual(await first.findGrant(two.grant.id), before)
  })
}

/** Well after the last rotation of a family. */
const LATE = at(HOUR)

/** A family of generation 2, last rotated at 2000, all of it in one network. */
interface Family {
  readonly grant: GrantRecord
  readonly firstHash: Rotation['presentedHash']
  readonly newestHash: Rotation['presentedHash']
}

async function aFamilyOf(store: StoreDriver, differing: Partial<GrantRecord> = {}): Promise<Family> {
  const grant = await aLiveGrant(store, { boundKey: undefined, ...differing })
  const one = aRotation(grant, { copies: 'network' })
  const two = { ...one, generation: 1, presentedHash: one.successorHash, successorHash: aHash(), now: at(2000) }
  await performAll(store, 'rotateRefreshToken', [one, two])
  return { grant, firstHash: one.presentedHash, newestHash: two.successorHash }
}

/** Presents the first token of a family, two generations behind. */
function earlier({ grant, firstHash }: Family, differing: Partial<Rotation> = {}): Rotation {
  return aRotation(grant, { presentedHash: firstHash, now: LATE, copies: 'network', ...differing })
}

function newest({ grant, newestHash }: Family, differing: Partial<Rotation> = {}): Rotation {
  const presented = { generation: 2, presentedHash: newestHash, issuedAt: at(2000), idleExpiresAt: at(20 * HOUR) }
  return aRotation(grant, { ...presented, now: LATE, copies: 'network', ...differing })
}

function held(grant: GrantRecord, heldFor: string): GrantRecord {
  return { ...grant, family: grant.family && { ...grant.family, heldFor } }
}

function rotated(grant: GrantRecord, network: string): GrantRecord {
  const change = { generation: 3, rotatedAt: LATE, idleExpiresAt: at(20 * HOUR), network }
  return { ...grant, family: grant.family && { ...grant.family, ...change } }
}

/** The hash of a successor is random here. */
function withoutHash(grant: GrantRecord | undefined): unknown {
  return {
    ...grant,
    family: { ...grant?.family, liveHash: grant?.family?.generation === 3 ? '' : grant?.family?.liveHash },
  }
}
