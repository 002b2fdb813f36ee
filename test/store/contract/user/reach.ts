import assert from 'node:assert/strict'
import { OUT_OF_REACH } from '../../../../src/ports/operations/reach.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { OperationName } from '../../../../src/ports/operations/index.ts'
import type { Reach } from '../../../../src/ports/operations/reach.ts'
import type { RoleRecord } from '../../../../src/ports/records/role.ts'
import type { SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import { OPERATIONS } from '../../../../src/store/nouns.ts'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { normalizeEmail } from '../../../../src/protocol/sign-in/email-address.ts'
import { type Given, perform, performAll, startSessions, type Stores, type Suite, times } from '../harness.ts'
import { aGroupMember } from '../organization/groups.ts'
import { aPasskey } from '../../../support/sign-in/factor-records.ts'
import {
  aGroup,
  aLink,
  aMembership,
  anOrganization,
  aSession,
  aSessionStart,
  aUser,
  at,
  NOW,
} from '../../../support/records.ts'

/** An account, and what it has that the orders need. */
interface Person {
  readonly user: UserRecord
  readonly session: SessionRecord
}

const { id: OWN } = anOrganization()
const { id: OTHER } = anOrganization()
const KEY = aPasskey().id

/** An order of an administrator for each operation that changes an account, or its membership of the organization. */
const ORDERS = {
  setPassword: ({ user: { id } }) => ({ id, passwordHash: 'x', now: at(1) }),
  setEmail: ({ user: { id, email } }) => ({
    id,
    email: normalizeEmail(`x.${email}`),
    emailVerifiedAt: NOW,
    now: at(1),
  }),
  updateUser: ({ user }) => ({ id: user.id, previous: user, name: 'Other', profile: {}, now: at(1) }),
  disableUser: ({ user: { id } }) => ({ id, now: at(1) }),
  enableUser: ({ user: { id } }) => ({ id, now: at(1) }),
  deleteUser: ({ user: { id } }) => ({ id }),
  revokeUserTokens: ({ user: { id } }) => ({ id, now: at(1) }),
  unlockUser: ({ user: { id } }) => ({ id, buckets: [] }),
  createLink: ({ user: { id: userId } }, { setAt }) => ({ ...aLink({ userId }), roleSince: setAt }),
  setRole: ({ user }) => aRole(user, { access: 'read', isLoopbackOnly: true }),
  removeRole: ({ user: { id: userId } }) => ({ userId }),
  resetSecondFactor: ({ user: { id: userId } }) => ({ userId }),
  removePasskey: ({ user: { id: userId } }) => ({ userId, id: KEY, by: { kind: 'operator' } }),
  endSession: ({ user: { id: userId }, session: { id } }) => ({ id, about: { userId }, now: at(1), codesSince: NOW }),
  endOtherSessions: ({ user: { id: userId } }) => ({ userId, keep: undefined, now: at(1), codesSince: NOW }),
  addGroupMember: ({ user: { id: userId } }) => aGroupMember(userId, aGroup()),
  addMember: ({ user: { id: userId } }) => aMembership({ userId, organizationId: OWN }),
  disableMember: ({ user: { id: userId } }) => ({ userId, organizationId: OWN, now: at(1) }),
  enableMember: ({ user: { id: userId } }) => ({ userId, organizationId: OWN, now: at(1) }),
  removeMember: ({ user: { id: userId } }) => ({ userId, organizationId: OWN, now: at(1) }),
} as const satisfies { readonly [Name in OperationName]?: (person: Person, role: Partial<RoleRecord>) => object }
type OrderName = keyof typeof ORDERS

const SERVER = { isTrial: false, isBelowWrite: false, organizationId: undefined } as const
const REACHES: Readonly<Record<string, Reach>> = {
  'for a trial': { ...SERVER, isTrial: true },
  'below write': { ...SERVER, isBelowWrite: true },
  'of an organization': { ...SERVER, organizationId: OWN },
  'of an organization, below write': { ...SERVER, isBelowWrite: true, organizationId: OWN },
}

interface Account {
  readonly role: 'none' | 'trial' | 'lasting'
  readonly organizations: readonly (typeof OWN)[]
  /** Where the user signed in before it became a member. Absent: nowhere. */
  readonly wasInUse?: 'here' | 'elsewhere'
  /** A protected group: of the organization, or of the server. Absent: none. */
  readonly group?: 'own' | 'server'
}

const ACCOUNTS: readonly Account[] = [
  { role: 'none', organizations: [] },
  { role: 'none', organizations: [OWN] },
  { role: 'none', organizations: [OWN], wasInUse: 'here' },
  { role: 'none', organizations: [OWN], wasInUse: 'elsewhere' },
  { role: 'none', organizations: [OTHER] },
  { role: 'none', organizations: [], group: 'server' },
  { role: 'none', organizations: [OWN], group: 'server' },
  { role: 'none', organizations: [OWN], group: 'own' },
  { role: 'none', organizations: [OWN, OTHER] },
  { role: 'trial', organizations: [OWN] },
  { role: 'lasting', organizations: [] },
  { role: 'lasting', organizations: [OWN] },
]

/** The rule, in other words than the store has it. */
function mayTouch(reach: Reach, { role, organizations, wasInUse, group }: Account, isMembership: boolean): boolean {
  if ((role !== 'none' || group !== undefined) && reach.isBelowWrite) return false
  if (isMembership) return true
  if (reach.organizationId !== undefined)
    return role === 'none' && wasInUse === undefined && organizations.join() === OWN && group !== 'server'
  return !(reach.isTrial && (role === 'lasting' || group !== undefined))
}

function aRole({ id: userId }: UserRecord, differing: Partial<RoleRecord> = {}): RoleRecord {
  return { userId, access: 'write', organizationId: undefined, isLoopbackOnly: false, setAt: NOW, ...differing }
}

async function persons({ first }: Stores, account: Account, count: number): Promise<readonly Person[]> {
  const users = times(count, () => aUser({ firstSignedInAt: account.wasInUse === 'elsewhere' ? IMPORTED : undefined }))
  await performAll(first, 'createUser', users)
  const made = users.map((user) => ({ user, session: aSession({ userId: user.id }) }))
  const start = () => startSessions(first, ...made.map(({ session }) => aSessionStart({ session })))
  const { role, organizations, wasInUse } = account
  if (wasInUse === 'here') await start()
  const given = role === 'none' ? [] : users.map((user) => aRole(user, { isLoopbackOnly: role === 'trial' }))
  await performAll(first, 'setRole', given)
  const memberships = organizations.flatMap((organizationId) =>
    users.map(({ id: userId }) => aMembership({ userId, organizationId })),
  )
  await performAll(first, 'addMember', memberships)
  if (account.group !== undefined) {
    const group = aGroup({ organizationId: account.group === 'own' ? OWN : undefined, isProtected: true })
    if (account.group === 'own') await perform(first, 'createOrganization', anOrganization({ id: OWN }))
    assert.equal(await perform(first, 'createGroup', group), 'created')
    await performAll(
      first,
      'addGroupMember',
      users.map(({ id }) => aGroupMember(id, group)),
    )
  }
  // The first sign-in after it says nothing of what was before: an import may say that the account was in use elsewhere.
  if (wasInUse !== 'here') await start()
  return made
}

/** What an order could have changed. */
async function stateOf(store: StoreDriver, { user: { id } }: Person): Promise<readonly unknown[]> {
  const sessions = await store.listSessions({ userId: id, before: undefined, limit: 10 })
  const links = await store.listLinks(id)
  const memberships = await store.listMemberships(id)
  const groups = await store.listGroupsOfUser(id)
  return [await store.findUser(id), await store.findRole(id), memberships, groups, sessions, links]
}

async function give(store: StoreDriver, name: OrderName, person: Person, { role }: Account, reach: Reach) {
  const order = ORDERS[name](person, { setAt: role === 'none' ? undefined : NOW } as never)
  const input: Given<OrderName> = { ...order, reach }
  return perform(store, name, input)
}

export const reachCases: Suite = (check) => {
  const changing = Object.entries(OPERATIONS).filter(([, row]) => 'account' in row && row.account !== 'new')
  assert.deepEqual(changing.map(([name]) => name).toSorted(), Object.keys(ORDERS).toSorted())

  for (const [name, reach] of Object.entries(REACHES)) {
    check(
      `CON-19, CON-38: an administrator ${name} changes no account that is out of reach, by any order`,
      async (stores) => {
        const orders = Object.keys(ORDERS) as readonly OrderName[]
        await Promise.all(
          ACCOUNTS.map(async (account) => {
            const people = await persons(stores, account, orders.length)
            for (const [index, order] of orders.entries()) {
              const person = people[index] ?? assert.fail()
              const what = `${order}, ${JSON.stringify(account)}`
              const before = await stateOf(stores.second, person)
              const outcome: unknown = await give(stores.first, order, person, account, reach)
              const isAllowed = mayTouch(reach, account, order.endsWith('Member'))
              assert.equal(outcome !== OUT_OF_REACH, isAllowed, what)
              if (!isAllowed) assert.deepEqual(await stateOf(stores.second, person), before, what)
            }
          }),
        )
      },
    )
  }

  check(
    'CON-37: what may let an administrator for a trial sign in to an account is kept',
    async ({ first, second }) => {
      const account = { role: 'none', organizations: [] } as const
      const orders = Object.keys(ORDERS) as readonly OrderName[]
      const people = await persons({ first, second }, account, orders.length)
      for (const [index, order] of orders.entries()) {
        if (order === 'deleteUser') continue
        const person = people[index] ?? assert.fail()
        await give(first, order, person, account, { ...SERVER, isTrial: true })
        const last = (isConfirmed: boolean) => perform(second, 'setRole', { ...aRole(person.user), isConfirmed })
        const prepares = ['setPassword', 'setEmail', 'createLink'].includes(order)
        assert.equal(await last(false), prepares ? 'prepared' : 'changed', order)
        assert.equal(await last(true), 'changed', order)
      }
    },
  )

  check(
    'CON-38: a role that a user gets meanwhile stays, and so does its account, whatever is ordered',
    async (stores) => {
      const orders = Object.keys(ORDERS).filter((name) => name !== 'setRole' && name !== 'addMember') as OrderName[]
      const account = { role: 'none', organizations: [OWN] } as const
      const people = await persons(stores, account, orders.length)
      const outcomes = await Promise.all(
        people.map(async (person, index) => {
          const order = orders[index] ?? assert.fail()
          const [giving, taking] = index % 2 === 0 ? [stores.first, stores.second] : [stores.second, stores.first]
          const given = perform(giving, 'setRole', { ...aRole(person.user, { setAt: at(2) }), isConfirmed: true })
          const outcome: unknown = await give(taking, order, person, account, { ...SERVER, isBelowWrite: true })
          return { order, person, given: await given, outcome }
        }),
      )
      for (const { order, person, given, outcome } of outcomes) {
        const { id } = person.user
        // Either the order came first, or it found the role.
        if (given === 'unknown') assert.equal(order, 'deleteUser')
        else assert.deepEqual(await stores.first.findRole(id), aRole(person.user, { setAt: at(2) }), order)
        if (outcome !== OUT_OF_REACH) continue
        const user = await stores.second.findUser(id)
        assert.deepEqual([user?.disabledAt, user?.email], [undefined, person.user.email], order)
      }
    },
  )
}
