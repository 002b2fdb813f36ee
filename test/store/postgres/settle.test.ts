import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openSession } from '../../support/store/postgres.ts'
import { openTestChains } from '../contract/chains.ts'
import { perform } from '../contract/harness.ts'
import { openTearing, type Part, type Tearing } from './torn.ts'
import { aTornUser, createTornUsers, describeTornUser, PROVIDER, type Deed, type TornUser } from './torn-user.ts'

/** What writes rows of a user on several machines. */
const WRITERS: readonly Deed[] = [
  'redeem the code',
  'open a grant',
  'approve another code',
  'sign in',
  'remove an identity',
  'link by the address',
  'link in the session',
  'sign in to the unused account',
  'change the address',
  'create a user with that address',
]
/** What decides about such rows. */
const DECIDERS: readonly Deed[] = [
  'redeem the code again',
  'remove the app',
  'sign out',
  'sign out elsewhere',
  'change the password',
  'remove an identity',
  'remove the other identity',
  'link another by the address',
  'change the address again',
  'confirm an address',
  'use the link',
  'link by the link',
  'take the unused account over',
  'delete the user',
]
/** What decides about an account that an import stored. */
const IMPORTS: readonly Deed[] = [
  'import the account again',
  'import the newer account',
  'import another with its address',
  'import another with its identity',
]
const GROUPS = [
  { writers: WRITERS, deciders: DECIDERS },
  { writers: ['import an account'], deciders: IMPORTS },
  { writers: ['join the group'], deciders: ['protect the group', 'delete the group'] },
] satisfies readonly { readonly writers: readonly Deed[]; readonly deciders: readonly Deed[] }[]
/** What goes wrong without the statements of src/store/postgres/settle.ts. */
const WITHOUT_SETTLING: readonly string[] = [
  'open a grant, then remove an identity, authorization_id is late',
  'approve another code, then remove the app, authorization_id is late',
  'approve another code, then sign out, user_id is late',
  'approve another code, then sign out, authorization_id is late',
  'approve another code, then sign out elsewhere, authorization_id is late',
  'sign in, then change the password, session_id is late',
  'sign in, then delete the user, session_id is late',
  'link by the address, then link another by the address, identity_key is late',
  'link in the session, then use the link, identity_key is late',
  'link in the session, then link by the link, identity_key is late',
  'link in the session, then delete the user, identity_key is late',
  'change the address, then change the address again, user_id is late',
  'change the address, then change the address again, email is late',
  'change the address, then delete the user, user_id is late',
  'change the address, then delete the user, email is late',
  'import an account, then import the account again, identity_key is late',
  'import an account, then import the newer account, email is late',
  'join the group, then protect the group, user_id is late',
  'join the group, then delete the group, user_id is late',
]

/** The part of the writer that is `late` becomes visible while the decider runs. */
interface Torn {
  readonly writer: Deed
  readonly decider: Deed
  readonly late: Part
}

const file = { after: (end: unknown): void => after(end as () => unknown) }
const url = await openMigratedDatabase(file)
const client = await openSession(file, url)
// As where Citus distributes the tables: no index holds that an address is unique.
await client.query('drop index users_email; drop index clients_shared')
const store = await openPostgresStore({ url, connections: 4, audit: openTestChains(), isDistributed: true })
after(() => store.close())
await perform(store, 'createProvider', PROVIDER)
const settling = await openTearing(file, url)
const cases = await listCases(settling)
/** Each writer and decider in both orders. */
const orders = await runInOrders()

test('STO-19: while a part of a commit is not visible yet, a decision is made as before that commit or as after it', async () => {
  assert.ok(cases.length > 50, 'too few cases')
  assert.deepEqual(await findFaults(settling, cases), [])
})

test('GRP-03: a deleted group has no members, also if a row was not visible when another member was added', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const { operations } = user
  const deletion = [operations['let another join the group'], operations['delete the group']]
  const outcomes = await settling.runTorn(operations['join the group'], 'user_id', ...deletion)
  assert.deepEqual(outcomes, ['added', 'added', 'deleted'])
  assert.doesNotMatch(await describeTornUser(client, user, {}), /^member /m)
})

test('planted: without waiting for the other machines, decisions miss what was just committed', async () => {
  const planted = await openTearing(file, url, { isSettling: false })
  const wrong = cases.filter((torn) => WITHOUT_SETTLING.includes(nameOf(torn)))
  assert.deepEqual(await findFaults(planted, wrong), WITHOUT_SETTLING)
})

test('STO-19: every operation changes sessions, then codes and grants: Citus lets two that differ wait for each other', async () => {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const order = ['session_id', 'authorization_id']
  for (const [deed, operation] of Object.entries(user.operations)) {
    const changed = (await settling.partsOf(operation)).filter((part) => order.includes(part))
    assert.deepEqual(
      changed,
      order.filter((part) => changed.includes(part)),
      deed,
    )
  }
})

/** Every writer with every decider that touches one of its parts, and each part of it late. */
async function listCases(tearing: Tearing): Promise<readonly Torn[]> {
  const user = aTornUser()
  await createTornUsers(store, [user])
  const parts = new Map<Deed, readonly Part[]>()
  for (const deed of GROUPS.flatMap(({ writers, deciders }) => [...writers, ...deciders]))
    parts.set(deed, await tearing.partsOf(user.operations[deed]))
  return GROUPS.flatMap(({ writers, deciders }) =>
    writers.flatMap((writer) =>
      deciders.flatMap((decider) => {
        const own = parts.get(writer) ?? []
        if (writer === decider || !own.some((part) => parts.get(decider)?.includes(part))) return []
        return own.map((late) => ({ writer, decider, late }))
      }),
    ),
  )
}

async function runInOrders(): Promise<ReadonlyMap<string, readonly string[]>> {
  const pairs = [...Map.groupBy(cases, nameOfPair).entries()]
  const users = pairs.map(() => [aTornUser(), aTornUser()] as const)
  await createTornUsers(store, users.flat())
  const found = new Map<string, readonly string[]>()
  for (const [index, [name, [torn]]] of pairs.entries()) {
    const [forth, back] = users[index] ?? []
    assert.ok(torn && forth && back)
    const { writer, decider } = torn
    const one = await settling.runInOrder(forth.operations[writer], forth.operations[decider])
    const [second, first] = await settling.runInOrder(back.operations[decider], back.operations[writer])
    found.set(name, [await describe(forth, torn, one), await describe(back, torn, [first, second])])
  }
  return found
}

/** Returns the cases in which the outcomes and the tables are those of no order. */
async function findFaults(tearing: Tearing, some: readonly Torn[]): Promise<readonly string[]> {
  const users = some.map(() => aTornUser())
  await createTornUsers(store, users)
  const faults: string[] = []
  for (const [index, torn] of some.entries()) {
    const user = users[index]
    assert.ok(user)
    const { writer, decider, late } = torn
    const outcomes = await tearing.runTorn(user.operations[writer], late, user.operations[decider])
    const found = await describe(user, torn, outcomes)
    if (orders.get(nameOfPair(torn))?.includes(found) !== true) faults.push(nameOf(torn))
  }
  return faults
}

function nameOf(torn: Torn): string {
  return `${nameOfPair(torn)}, ${torn.late} is late`
}

function nameOfPair({ writer, decider }: Torn): string {
  return `${writer}, then ${decider}`
}

function describe(user: TornUser, { writer, decider }: Torn, [first, second]: readonly unknown[]): Promise<string> {
  return describeTornUser(client, user, { [writer]: first, [decider]: second })
}
