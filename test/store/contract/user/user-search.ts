import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { searchUsers } from '../../../../src/admin/user/search.ts'
import { hasWords, wordsOf } from '../../../../src/base/fold.ts'
import type { IndexedUsers, SearchMarks } from '../../../../src/ports/operations/user-search.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { firstUserId, hashedId, mintUserId, type UserId } from '../../../../src/protocol/ids.ts'
import { normalizeEmail } from '../../../../src/protocol/sign-in/email-address.ts'
import { userTexts } from '../../../../src/protocol/sign-in/user-texts.ts'
import { aUser, at, MINUTE } from '../../../support/records.ts'
import { perform, times, type Stores, type Suite } from '../harness.ts'
import { anImport } from './imported-users.ts'

/** Ids from here on are too young for the index. */
const UNTIL = firstUserId(at(10 * MINUTE))

/** What a node indexes, turn after turn. */
function openIndexer(limit: number) {
  let reached: SearchMarks | undefined
  return {
    async turn(store: StoreDriver, until = UNTIL): Promise<IndexedUsers> {
      const indexed = await perform(store, 'indexUsers', { reached, until, limit })
      ;({ reached } = indexed)
      return indexed
    },
    async catchUp(store: StoreDriver, until = UNTIL): Promise<void> {
      while ((await this.turn(store, until)).count > 0);
    },
  }
}

/** The ids that a search finds, from all of its pages. */
async function searched(store: StoreDriver, text: string, limit = 3): Promise<readonly UserId[]> {
  const found: UserId[] = []
  let before: UserId | undefined
  do {
    const page = await searchUsers({ store }, text, { limit, before })
    assert.ok(page.rows.length <= limit)
    found.push(...page.rows.map(({ id }) => id))
    before = page.next ?? undefined
  } while (before !== undefined)
  return found
}

/** The same, by comparing all users. */
function expected(users: Iterable<UserRecord>, text: string): readonly UserId[] {
  const words = wordsOf(text)
  return [...users]
    .filter((user) => hasWords(words, ...userTexts(user)))
    .map(({ id }) => id)
    .toSorted()
    .toReversed()
}

const NAMES = [
  'Greta Müller',
  'GRETA muller',
  'Łukasz Ørsted',
  'İbrahim Çelik',
  '田中 太郎さん',
  'O\'Neil "x" %_\\',
  'Ada 👩👩👩',
]
const ADDRESSES = [
  'greta@globex.test',
  'muller@bücher.example',
  "o'neil@acme.test",
  'a_b%c@acme.test',
  'ada+x@acme.test',
]
const TEXTS = [
  'greta',
  'MÜLLER',
  'mull gre',
  'er gre',
  'globex.test',
  'bucher',
  'xn--bcher',
  'orsted luk',
  'ibrahim',
  '太郎さ',
  'zzzz',
  '%_\\*',
  'o\'neil "x"',
  '* OR NEAR(',
  '"""',
  "');--",
  'a_b%c',
  'gre\0ta',
  '👩👩👩',
  'x'.repeat(10_000),
  'acme',
]

type Step =
  | { readonly kind: 'create' | 'import'; readonly late: number; readonly name: string; readonly email: string }
  | {
      readonly kind: 'rename' | 'update' | 'move' | 'delete'
      readonly which: number
      readonly name: string
      readonly email: string
    }
  | { readonly kind: 'turn'; readonly node: 0 | 1 }

const NAMED = { name: fc.constantFrom(...NAMES), email: fc.constantFrom(...ADDRESSES) }
const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('create', 'import'), late: fc.nat(5), ...NAMED }),
  fc.record({ kind: fc.constantFrom('rename', 'update', 'move', 'delete'), which: fc.nat(9), ...NAMED }),
  fc.record({ kind: fc.constant('turn'), node: fc.constantFrom(0, 1) }),
)

/** Applies a step to the store and to the model of it. */
async function apply(
  { first, second }: Stores,
  users: Map<UserId, UserRecord>,
  indexers: readonly ReturnType<typeof openIndexer>[],
  step: Step,
  minute: number,
): Promise<void> {
  if (step.kind === 'turn') {
    const until = firstUserId(at((minute - 6) * MINUTE))
    return void (await indexers[step.node]?.turn(step.node === 0 ? first : second, until))
  }
  const { name } = step
  const email = normalizeEmail(`${users.size}${Math.floor(Math.random() * 1e9)}.${step.email}`)
  if (step.kind === 'create') {
    const user = aUser({ id: mintUserId(at((minute - step.late) * MINUTE), randomBytes), name, email })
    assert.equal(await perform(first, 'createUser', user), 'created')
    users.set(user.id, user)
    return
  }
  if (step.kind === 'import') {
    const id = `gus_${hashedId(randomBytes(32))}` as UserId
    const account = anImport({ name, email }, step.late % 2 === 0 ? id : undefined)
    assert.equal(await perform(second, 'importUser', account), 'created')
    users.set(account.user.id, account.user)
    return
  }
  const user = 'which' in step ? [...users.values()][step.which] : undefined
  if (user === undefined) return
  const { id } = user
  switch (step.kind) {
    case 'rename':
      await perform(first, 'renameUser', { id, name, now: at(1) })
      return void users.set(id, { ...user, name })
    case 'update': {
      await perform(second, 'updateUser', { id, name, profile: user.profile, previous: user, now: at(1) })
      return void users.set(id, { ...user, name })
    }
    case 'move':
      assert.equal(await perform(first, 'setEmail', { id, email, emailVerifiedAt: undefined, now: at(1) }), 'changed')
      return void users.set(id, { ...user, email })
    case 'delete':
      await perform(second, 'deleteUser', { id })
      return void users.delete(id)
  }
}

export const userSearchCases: Suite = (check) => {
  check('a search finds each user who has its words, at any moment of the index', async (stores) => {
    const users = new Map<UserId, UserRecord>()
    let minute = 0
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { maxLength: 25 }), fc.integer({ min: 1, max: 5 }), async (steps, limit) => {
        for (const id of users.keys()) await perform(stores.first, 'deleteUser', { id })
        users.clear()
        const indexers = [openIndexer(limit), openIndexer(limit)]
        for (const step of steps) {
          await apply(stores, users, indexers, step, (minute += 1))
          const text = TEXTS[Math.floor(Math.random() * TEXTS.length)] as string
          assert.deepEqual(await searched(stores.second, text), expected(users.values(), text), text)
        }
        for (const indexer of indexers) await indexer.catchUp(stores.first, firstUserId(at((minute - 6) * MINUTE)))
        for (const text of TEXTS)
          assert.deepEqual(await searched(stores.first, text, 50), expected(users.values(), text), text)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  check('the index has each user once all turns have ended, and what was deleted is not in it', async (stores) => {
    const { first, second } = stores
    const made = times(7, (index) => aUser({ id: mintUserId(at(index * MINUTE), randomBytes), name: 'Indexed Person' }))
    for (const user of made) await perform(first, 'createUser', user)
    assert.deepEqual((await second.listUnindexedUsers({ before: undefined, limit: 3 })).users.length, 3)
    const indexer = openIndexer(3)
    await indexer.catchUp(first)
    const young = aUser({ id: mintUserId(at(11 * MINUTE), randomBytes), name: 'Indexed Person' })
    await perform(first, 'createUser', young)
    assert.deepEqual(await second.listUnindexedUsers({ before: undefined, limit: 50 }), {
      users: [young],
      next: undefined,
    })
    const [gone, ...left] = made.map(({ id }) => id) as [UserId, ...UserId[]]
    await perform(first, 'deleteUser', { id: gone })
    await perform(first, 'renameUser', { id: left[0] as UserId, name: 'Other', now: at(1) })
    await indexer.catchUp(second)
    const { rows } = { rows: await stores.rows() }
    assert.equal(rows['user_search']?.length, 6)
    assert.deepEqual(rows['search_due'] ?? [], [])
    assert.deepEqual(await searched(second, 'dexed son'), [young.id, ...left.slice(1).toReversed()])
    assert.deepEqual(await searched(second, 'other'), [left[0]])
  })

  check('a change while the index is written is in the index after the next turns', async (stores) => {
    const { first, second } = stores
    const users = times(6, () => aUser({ name: 'Earlier' }))
    for (const user of users) await perform(first, 'createUser', user)
    const [one, other] = [openIndexer(4), openIndexer(4)]
    for (let round = 0; round < 6; round += 1) {
      await Promise.all([
        one.turn(first),
        ...users.map(({ id }) => perform(second, 'renameUser', { id, name: `Later${round}`, now: at(1) })),
        other.turn(second),
      ])
      assert.equal((await searched(first, `later${round}`)).length, users.length)
    }
    await one.catchUp(first)
    await other.catchUp(second)
    assert.deepEqual(await stores.first.listUnindexedUsers({ before: undefined, limit: 50 }), {
      users: [],
      next: undefined,
    })
    assert.equal((await searched(first, 'later5')).length, users.length)
    assert.deepEqual(await searched(first, 'later4'), [])
  })

  check(
    'users of one text are listed page by page, each once, whether the index has them or not',
    async ({ first }) => {
      const made = times(40, (index) => aUser({ id: mintUserId(at(index * 30_000), randomBytes), name: 'Same' }))
      for (const user of made) await perform(first, 'createUser', user)
      const indexer = openIndexer(7)
      const all = made.map(({ id }) => id).toReversed()
      for (let turn = 0; turn < 4; turn += 1) {
        assert.deepEqual(await searched(first, 'same', 6), all)
        await indexer.turn(first)
      }
    },
  )
}
