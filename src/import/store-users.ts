import type { TaskContext } from '../admin/task.ts'
import { foreignFormatOf } from '../passwords/passwords.ts'
import type { Outcome } from '../ports/operations/index.ts'
import type { UserImport } from '../ports/operations/user.ts'
import type { SecondFactorRecord } from '../ports/records/second-factor.ts'
import { hasRoom, isOfOperator } from '../protocol/access/belonging.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { firstSignInOf } from '../protocol/sign-in/account.ts'
import { differingMembers } from '../protocol/sign-in/imported-account.ts'
import { secretName } from '../protocol/sign-in/totp.ts'
import type { PlannedUser } from './plan-user.ts'

type Needs = Pick<TaskContext, 'encryption' | 'store'>

/** What may become of users that exist. */
export interface StoreOptions {
  readonly isDryRun: boolean
  /** Whether accounts that were never used here are changed. */
  readonly isUpdate: boolean
}

/** What became of a user. */
export interface StoredUser {
  readonly outcome: Outcome<'importUser'>
  /** The members of the account that differed from those of the file. */
  readonly differing: readonly string[]
}

/** Stores users in one commit, each completely or not at all. Returns what became of them in the same order. */
export async function storeUsers(
  context: Needs,
  users: readonly PlannedUser[],
  options: StoreOptions,
): Promise<readonly StoredUser[]> {
  const { store } = context
  const accounts = await Promise.all(users.map((user) => accountOf(context, user)))
  if (options.isDryRun) return Promise.all(accounts.map((account) => foresee(context, account, options)))
  const first = await Promise.all(accounts.map((account) => store.importUser(account)))
  const outcomes = await Promise.all(
    users.map((user, index) => again(context, user, first[index] as Outcome<'importUser'>)),
  )
  return Promise.all(
    accounts.map(async (account, index) => {
      const outcome = outcomes[index] as Outcome<'importUser'>
      if (outcome !== 'differs') return { outcome, differing: [] }
      const { user, ...others } = await readAccount(context, account)
      const differing = user === undefined ? [] : differingMembers({ user, ...others }, account)
      return { outcome: options.isUpdate ? await update(context, account) : outcome, differing }
    }),
  )
}

/** Another import may have stored the account meanwhile, with another encryption of the same secret. */
async function again(
  context: Needs,
  user: PlannedUser,
  outcome: Outcome<'importUser'>,
): Promise<Outcome<'importUser'>> {
  if (outcome !== 'differs' || (await findSameFactor(context, user)) === undefined) return outcome
  return context.store.importUser(await accountOf(context, user))
}

/** Changes an account, unless it was used or changed here. */
async function update({ store }: Needs, account: UserImport): Promise<Outcome<'importUser'>> {
  const stored = await store.findUser(account.user.id)
  if (stored === undefined || !mayReplace(stored, account)) return 'differs'
  return store.importUser({ ...account, replaces: { passwordHash: stored.passwordHash } })
}

/** Whether the account is still as an import made it, and has no password of this server. The store checks the rest again. */
function mayReplace(stored: UserRecord, { user }: UserImport): boolean {
  const { passwordHash: hash, disabledAt, updatedAt, notBefore } = stored
  const isForeign = hash === undefined || foreignFormatOf(hash) !== undefined
  const isDisabledHere = disabledAt !== undefined && user.disabledAt === undefined
  return isForeign && !isDisabledHere && updatedAt === notBefore && firstSignInOf(stored) === undefined
}

/** Each encryption of the secret of an app gives another text, so the stored text is kept if it has the same secret. */
async function accountOf(context: Needs, user: PlannedUser): Promise<UserImport> {
  const { account, appSecret } = user
  const none = { ...account, secondFactor: undefined, replaces: undefined }
  if (appSecret === undefined) return none
  const { id: userId, createdAt } = account.user
  const stored = await findSameFactor(context, user)
  if (stored !== undefined) return { ...none, secondFactor: stored }
  const secret = context.encryption.encrypt(secretName(userId), appSecret)
  const secondFactor: SecondFactorRecord = {
    userId,
    secret,
    lastStep: 0,
    failures: 0,
    createdAt,
    usedAt: undefined,
  }
  return { ...none, secondFactor }
}

/** The app of the account, if it has the same secret. */
async function findSameFactor(
  { encryption, store }: Needs,
  { account, appSecret }: PlannedUser,
): Promise<SecondFactorRecord | undefined> {
  if (appSecret === undefined) return undefined
  const { id } = account.user
  const stored = await store.findSecondFactor(id)
  const isSame = stored !== undefined && encryption.decrypt(secretName(id), stored.secret)?.equals(appSecret) === true
  return isSame ? stored : undefined
}

/** What the store would do, without a change. */
async function foresee(context: Needs, account: UserImport, { isUpdate }: StoreOptions): Promise<StoredUser> {
  const { store } = context
  const { user, clientId } = account
  const only = (outcome: Outcome<'importUser'>): StoredUser => ({ outcome, differing: [] })
  if (clientId !== undefined && (await store.findClient(clientId)) !== undefined) return only('id-taken')
  const { user: stored, ...others } = await readAccount(context, account)
  const { email } = user
  if (stored?.email !== email && email !== undefined && (await store.findUserIdByEmail(email, user.id)) !== user.id)
    return only('email-taken')
  if (others.identities.some(({ userId }) => userId !== user.id)) return only('identity-taken')
  if (stored === undefined) return only('created')
  const differing = differingMembers({ user: stored, ...others }, account)
  if (differing.length === 0) return only('same')
  const known = new Set(others.groups.map(({ groupId }) => groupId))
  const joined = account.groups.filter(({ groupId }) => !known.has(groupId))
  if (!hasRoom(others.ofAllSources, joined)) return { outcome: 'differs', differing }
  const isUpdated = isUpdate && !(await store.isHolder(user.id)) && mayReplace(stored, account)
  return { outcome: isUpdated ? 'updated' : 'differs', differing }
}

/** What there is of an account, with the identities that the file names, also those of other users. */
async function readAccount({ store }: Needs, { user: { id }, identities: named }: UserImport) {
  const [user, memberships, groups, secondFactor, ...found] = await Promise.all([
    store.findUser(id),
    store.listMemberships(id),
    store.listGroupsOfUser(id),
    store.findSecondFactor(id),
    ...named.map(({ key }) => store.findIdentity(key)),
  ])
  return {
    user,
    memberships,
    groups: groups.filter(isOfOperator),
    ofAllSources: groups,
    secondFactor,
    identities: found.filter((one) => one !== undefined),
  }
}
