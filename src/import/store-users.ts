import type { TaskContext } from '../admin/task.ts'
import { foreignFormatOf } from '../passwords/passwords.ts'
import type { Outcome } from '../ports/operations/index.ts'
import type { UserImport } from '../ports/operations/user.ts'
import type { SecondFactorRecord } from '../ports/records/second-factor.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { firstSignInOf } from '../protocol/sign-in/account.ts'
import { isAsImported } from '../protocol/sign-in/imported-account.ts'
import { secretName } from '../protocol/sign-in/totp.ts'
import type { PlannedUser } from './plan-user.ts'

type Needs = Pick<TaskContext, 'encryption' | 'store'>

/** What may become of users that exist. */
export interface StoreOptions {
  readonly isDryRun: boolean
  /** Whether accounts that were never used here are changed. */
  readonly isUpdate: boolean
}

/** Stores users in one commit, each completely or not at all. Returns their outcomes in the same order. */
export async function storeUsers(
  context: Needs,
  users: readonly PlannedUser[],
  options: StoreOptions,
): Promise<readonly Outcome<'importUser'>[]> {
  const { store } = context
  const accounts = await Promise.all(users.map((user) => accountOf(context, user)))
  if (options.isDryRun) return Promise.all(accounts.map((account) => foresee(context, account, options)))
  const first = await Promise.all(accounts.map((account) => store.importUser(account)))
  const outcomes = await Promise.all(
    users.map((user, index) => again(context, user, first[index] as Outcome<'importUser'>)),
  )
  if (!options.isUpdate) return outcomes
  return Promise.all(
    accounts.map(async (account, index) => {
      const outcome = outcomes[index] as Outcome<'importUser'>
      return outcome === 'differs' ? update(context, account) : outcome
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

/** What the store would return, without a change. */
async function foresee(
  { store }: Needs,
  account: UserImport,
  { isUpdate }: StoreOptions,
): Promise<Outcome<'importUser'>> {
  const { user, clientId } = account
  if (clientId !== undefined && (await store.findClient(clientId)) !== undefined) return 'id-taken'
  const stored = await store.findUser(user.id)
  const { email } = user
  if (stored?.email !== email && email !== undefined && (await store.findUserIdByEmail(email, user.id)) !== user.id)
    return 'email-taken'
  const found = await Promise.all(account.identities.map(({ key }) => store.findIdentity(key)))
  const identities = found.filter((one) => one !== undefined)
  if (identities.some(({ userId }) => userId !== user.id)) return 'identity-taken'
  if (stored === undefined) return 'created'
  const [memberships, secondFactor, role] = await Promise.all([
    store.listMemberships(user.id),
    store.findSecondFactor(user.id),
    store.findRole(user.id),
  ])
  if (isAsImported({ user: stored, identities, memberships, secondFactor }, account)) return 'same'
  return isUpdate && role === undefined && mayReplace(stored, account) ? 'updated' : 'differs'
}
