import { randomBytes } from 'node:crypto'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import type { Input } from '../../src/ports/operations/index.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import { mintOrganizationId } from '../../src/protocol/ids.ts'
import { IMPORTED } from '../../src/protocol/sign-in/account.ts'
import { atOnce, type Race } from './at-once.ts'
import { aHash, anIdentity, aSession, aUserRecord, now, perform, startOf } from './person.ts'

type Account = Input<'importUser'>

/** The rows of an account are on four shards: those of the user, the address and both identities. */
export function anAccount(differing: Partial<Account['user']> = {}): Account {
  const since = now()
  const record = { ...aUserRecord(), firstSignedInAt: IMPORTED, updatedAt: since, notBefore: since, ...differing }
  const { id: userId } = record
  const organizationId = mintOrganizationId(since, randomBytes)
  return {
    user: record,
    identities: [anIdentity({ user: record }), anIdentity({ user: record })],
    memberships: [{ userId, organizationId, createdAt: since, disabledAt: undefined, notBefore: since }],
    secondFactor: { userId, secret: aHash(), lastStep: 0, failures: 0, createdAt: since, usedAt: undefined },
    clientId: chosenClientId(userId),
    source: 'users',
    groups: [],
    replaces: undefined,
  }
}

/** Races of imports with each other, and with what a user or an operator does. */
export const IMPORT_RACES: Readonly<Record<string, Race>> = {
  async 'two imports of an account'({ one, other }) {
    const account = anAccount()
    const outcomes = await atOnce(
      () => perform(one, 'importUser', account),
      () => perform(other, 'importUser', account),
    )
    if (outcomes.toSorted().join() !== 'created,same') return outcomes.join(' and ')
    return findPart(other, account, 'whole')
  },
  async 'imports of two accounts with one address'({ one, other }) {
    const first = anAccount()
    return importBoth({ one, other }, [first, anAccount({ email: first.user.email })], 'email-taken')
  },
  async 'imports of two accounts with one identity'({ one, other }) {
    const [first, second] = [anAccount(), anAccount()]
    const identities = [first.identities[0], second.identities[1]].filter((identity) => identity !== undefined)
    const same = { ...second, identities: identities.map((identity) => ({ ...identity, userId: second.user.id })) }
    return importBoth({ one, other }, [first, same], 'identity-taken')
  },
  async 'an import that updates an account and a new password'({ one, other }) {
    const account = anAccount()
    const { id } = account.user
    await perform(one, 'importUser', account)
    await atOnce(
      () => perform(one, 'importUser', newer(account)),
      () => perform(other, 'setPassword', { id, passwordHash: 'ours', now: now(), mails: [] }),
    )
    return (await other.findUser(id))?.passwordHash === 'ours' ? undefined : 'the password of the import is active'
  },
  async 'an import that updates an account and a sign-in'({ one, other }) {
    const account = { ...anAccount(), secondFactor: undefined }
    await perform(one, 'importUser', account)
    const [outcome, started] = await atOnce(
      () => perform(one, 'importUser', newer(account)),
      () => perform(other, 'startSession', startOf(account.user, aSession(account.user))),
    )
    return (outcome === 'updated') === (started.kind === 'started') ? `${outcome} and ${started.kind}` : undefined
  },
  async 'an import that moves an address and a new user who has it'({ one, other }) {
    const account = anAccount()
    await perform(one, 'importUser', account)
    const moved = newer(account)
    const outcomes = await atOnce(
      () => perform(one, 'importUser', moved),
      () => perform(other, 'createUser', { ...aUserRecord(), email: moved.user.email }),
    )
    if (!['updated,email-taken', 'email-taken,created'].includes(outcomes.join())) return outcomes.join(' and ')
    return findPart(other, outcomes[0] === 'updated' ? moved : account, 'whole')
  },
  async 'a better hash and a new password'({ one, other }) {
    const { user } = anAccount()
    const { id, passwordHash: previousHash } = user
    await perform(one, 'createUser', user)
    await atOnce(
      () => perform(one, 'upgradePassword', { id, previousHash, passwordHash: 'better', format: 'bcrypt' }),
      () => perform(other, 'setPassword', { id, passwordHash: 'ours', now: now(), mails: [] }),
    )
    return (await other.findUser(id))?.passwordHash === 'ours' ? undefined : 'the previous password is active'
  },
  async 'two runs of a set of grantor apply'({ one, other }) {
    const change = { set: aHash(), previous: undefined, finished: undefined }
    const outcomes = await atOnce(
      () => perform(one, 'recordApplied', { ...change, value: 'one' }),
      () => perform(other, 'recordApplied', { ...change, value: 'other' }),
    )
    return outcomes.toSorted().join() === 'changed,conflict' ? undefined : outcomes.join(' and ')
  },
}

/** The account as the newer export has it. */
function newer(account: Account): Account {
  const { user, identities } = account
  const importedAt = now()
  return {
    ...account,
    user: {
      ...user,
      email: normalizeEmail(`${aHash()}@newer.test`),
      passwordHash: 'newer',
      updatedAt: importedAt,
      notBefore: importedAt,
    },
    identities: [...identities, anIdentity({ user })],
    replaces: { passwordHash: user.passwordHash },
  }
}

/** One of the accounts must be created whole, and nothing must be left of the other. */
async function importBoth(
  { one, other }: Parameters<Race>[0],
  [first, second]: readonly [Account, Account],
  refusal: string,
): Promise<string | undefined> {
  const outcomes = await atOnce(
    () => perform(one, 'importUser', first),
    () => perform(other, 'importUser', second),
  )
  if (outcomes.toSorted().join() !== ['created', refusal].toSorted().join()) return outcomes.join(' and ')
  const [whole, none] = outcomes[0] === 'created' ? [first, second] : [second, first]
  return (await findPart(one, whole, 'whole')) ?? findPart(other, none, 'nothing')
}

/** Returns what an account has too little or too much of; undefined: nothing. */
async function findPart(
  store: StoreDriver,
  { user, identities, memberships, secondFactor }: Account,
  expected: 'whole' | 'nothing',
): Promise<string | undefined> {
  const owned = await Promise.all(identities.map(({ key }) => store.findIdentity(key)))
  const owner = await store.findUserIdByEmail(user.email ?? '', 'none' as typeof user.id)
  const found = {
    user: (await store.findUser(user.id)) === undefined ? 0 : 1,
    address: owner === user.id ? 1 : 0,
    identities: owned.filter((identity) => identity?.userId === user.id).length,
    'named identities': (await store.listIdentities(user.id)).length,
    memberships: (await store.listMemberships(user.id)).length,
    app: (await store.findSecondFactor(user.id)) === undefined ? 0 : 1,
  }
  const whole = {
    user: 1,
    address: 1,
    identities: identities.length,
    'named identities': identities.length,
    memberships: memberships.length,
    app: secondFactor === undefined ? 0 : 1,
  }
  const wrong = Object.entries(whole).filter(
    ([part, count]) => found[part as keyof typeof found] !== (expected === 'whole' ? count : 0),
  )
  return wrong.length === 0 ? undefined : `an account with ${wrong.map(([part]) => part).join(', ')} unlike ${expected}`
}
