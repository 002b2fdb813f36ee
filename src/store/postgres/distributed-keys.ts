import assert from 'node:assert/strict'
import type { UserRecord } from '../../ports/records/user.ts'
import type { Input } from '../../ports/operations.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Row } from '../rows.ts'
import { accountHandlers, replaceEmail } from '../shared/accounts.ts'
import { clientHandlers } from '../shared/clients.ts'
import { identityHandlers, provisionUser } from '../shared/identities.ts'
import { rows, shared as sharedStatement, type Steps } from '../shared/statement.ts'
import { USERS } from '../tables.ts'
import { byKey } from './by-key.ts'
import type { Query } from './query.ts'
import { eachAlone, type Handlers } from './handlers.ts'
import { holdUser, nameNewest, newestText, type NamedRow } from './settle.ts'
import { runSteps } from './steps.ts'

const CLAIM_EMAIL = sharedStatement(
  'insert into emails (email, user_id) values (:email, :id) on conflict (email) do nothing returning user_id',
)
const INSERT_USER = sharedStatement(
  `insert into users (${USERS.names}, newest_rows) values (${USERS.parameters}, :newest)`,
)
const FIND_EMAIL = { name: 'find-email', text: 'select email from users where user_id = $1' }
const RELEASE_EMAIL = { name: 'release-email', text: 'delete from emails where email = $1 and user_id = $2' }
/** An aggregate returns a row even if there is no account, so that both cases take equally long (threats.md UI-08). */
const FIND_OWNER = {
  name: 'find-owner-of-email',
  text: 'select coalesce(max(user_id), $2) as user_id from emails where email = $1',
}
const FIND_SHARED_KEY = {
  name: 'find-shared-key',
  text: 'select client_id, shared_key from clients where client_id = $1',
}
const RELEASE_SHARED_KEYS = {
  name: 'release-shared-keys',
  text: 'delete from shared_clients where shared_key = any($1::text[]) and client_id = any($2::text[])',
}

/**
 * Operations where Citus distributes users and clients by their ids. No index can hold that an email or a shared key is
 * unique over all shards, so it is the primary key of a row of its own, in the same transaction.
 */
export const distributedHandlers = {
  createUser: {
    keys: accountHandlers.createUser.keys,
    run: eachAlone(async (query, user: UserRecord) =>
      (await runSteps(query, claimAndInsert(user, []))) ? 'created' : 'email-taken',
    ),
  },
  provisionUser: {
    keys: identityHandlers.provisionUser.keys,
    run: eachAlone((query, account: Input<'provisionUser'>) =>
      runSteps(
        query,
        provisionUser(account, (user) => claimAndInsert(user, [['identities', account.identity.key]])),
      ),
    ),
  },
  setEmail: {
    keys: accountHandlers.setEmail.keys,
    run: eachAlone(async (query, change: Input<'setEmail'>) => {
      const { id, email } = change
      await runSteps(query, nameNewest(id, ['emails', email]))
      const [user] = await query(FIND_EMAIL, [id])
      if (user === undefined) return 'unknown'
      const previous = user['email']
      if (previous !== email) {
        if (!(await runSteps(query, claimEmail(email, id)))) return 'email-taken'
        if (typeof previous === 'string') await query(RELEASE_EMAIL, [previous, id])
      }
      const outcome = await runSteps(query, replaceEmail(change))
      assert.equal(outcome, 'changed', 'a user was deleted while the email was changed')
      return outcome
    }),
  },
  deleteUser: {
    keys: accountHandlers.deleteUser.keys,
    run: eachAlone(async (query, id: UserId) => {
      await runSteps(query, holdUser(id))
      const email = (await query(FIND_EMAIL, [id]))[0]?.['email']
      if (typeof email === 'string') await query(RELEASE_EMAIL, [email, id])
      return runSteps(byKey(query), accountHandlers.deleteUser.run(id))
    }),
  },
  disableClient: {
    keys: clientHandlers.disableClient.keys,
    run: eachAlone(async (query, input: Input<'disableClient'>) => {
      await releaseSharedKeys(query, await query(FIND_SHARED_KEY, [input.id]))
      return runSteps(query, clientHandlers.disableClient.run(input))
    }),
  },
} satisfies Partial<Handlers>

/** Inserts a user whose e-mail address is free. `others`: what the operation has written for the user besides. */
function* claimAndInsert(user: UserRecord, others: readonly NamedRow[]): Steps<boolean> {
  const { id, email } = user
  if (email !== undefined && !(yield* claimEmail(email, id))) return false
  const claimed: readonly NamedRow[] = email === undefined ? [] : [['emails', email]]
  yield* rows(INSERT_USER, { ...USERS.values(user), newest: newestText([...claimed, ...others]) })
  return true
}

function* claimEmail(email: string, id: UserId): Steps<boolean> {
  return (yield* rows(CLAIM_EMAIL, { email, id })).length === 1
}

/** Ends the sharing of clients, given as rows with `client_id` and `shared_key`. */
export async function releaseSharedKeys(query: Query, clients: readonly Row[]): Promise<void> {
  const sharing = clients.filter((row) => row['shared_key'] !== null)
  if (!query.isDistributed || sharing.length === 0) return
  const columns = ['shared_key', 'client_id'].map((name) => sharing.map((row) => row[name] as string))
  await query(RELEASE_SHARED_KEYS, columns)
}

/** Finds the user of an email without asking all shards of the users. */
export function distributedReads({ query }: { readonly query: Query }) {
  return {
    async findUserIdByEmail(email: string, otherwise: UserId): Promise<UserId> {
      const [row] = await query(FIND_OWNER, [email, otherwise])
      return (row?.['user_id'] ?? otherwise) as UserId
    },
  }
}
