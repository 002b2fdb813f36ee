import { AsyncLocalStorage } from 'node:async_hooks'
import type { OperationName } from '../../src/ports/operations/index.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { SHARD_KEYS } from '../../src/store/postgres/distribution.ts'

/**
 * What the operations read where Citus distributes the tables. A row of another shard than the first one may not be visible yet, though
 * its commit wrote the first one too. So each such read is settled (src/store/postgres/settle.ts), or has a reason here.
 */

const NOT_BEFORE = 'what is not visible yet ends by the not-before time, which is in a row of its own'
const ANSWERED = 'its caller knows the client, whose registration was answered after its whole commit'
const ABSENT = 'what is left belongs to something that does not exist, and is refused'
const UNIQUE = 'the insert waits for the row of the same key'
const PROVIDER = 'each use reads the provider, whose state is in a copy on each machine'
const IMPORTING =
  'an insert waits for the row of the same key, and two administrators who choose one id are reported by the doctor'
const WRITTEN_BEHIND = 'what is not visible yet is due, or after the mark, which is noted by the next turn'
const MARKED = 'the row that is awaited names it'

/** What an operation reads on other shards without holding the user, and why it may. undefined: whatever it reads. */
const ACROSS: Readonly<Record<string, readonly [why: string, reads: string | undefined]>> = {
  adoptClient: [ANSWERED, 'shared_key'],
  createAdminCredential: ['credentials of no organization read nothing, and may come first in a commit', undefined],
  deleteClient: [ANSWERED, 'shared_key'],
  disableClient: [ANSWERED, 'shared_key'],
  purgeClient: ['no client is removed in the minutes after its registration', 'shared_key'],
  registerPublicClient: [MARKED, 'client_id'],
  approveAuthorization: ['the consent is stored, and decides nothing', 'user_id'],
  provisionUser: [UNIQUE, 'email, identity_key, user_id'],
  importUser: [IMPORTING, 'email, identity_key, user_id'],
  indexUsers: [WRITTEN_BEHIND, 'all search_due, all users, user_id'],
  useIdentity: [PROVIDER, 'identity_key'],
  createIdentityProof: [PROVIDER, 'user_id'],
  deleteProvider: [ABSENT, 'all identities, all identity_proofs, user_id'],
  createOrganization: [
    ABSENT,
    'all authorizations, all grants, all group_members, all installations, all memberships, all roles, all user_groups, copies',
  ],
  deleteOrganization: [
    ABSENT,
    'all authorizations, all grants, all group_members, all installations, all memberships, all roles, all user_groups, copies',
  ],
  createGroup: [
    'its insert waits for the row of the same key, and a maximum is exceeded only by groups that are created at the same moment',
    'all group_members, all user_groups, copies, group_id',
  ],
  updateGroup: [MARKED, 'all links, all users, copies, group_id, user_id'],
  deleteGroup: [MARKED, 'all group_members, copies, user_id'],
  beginEra: [
    NOT_BEFORE,
    'all authorizations, all devices, all email_codes, all grants, all identity_proofs, all initial_tokens, all interactions, all links, all logout_notices, all mails, all pushed_requests, all roles, all sessions',
  ],
  disableMember: [NOT_BEFORE, 'authorization_id'],
  disableOrganization: [NOT_BEFORE, 'all authorizations, all grants'],
  removeMember: [NOT_BEFORE, 'authorization_id'],
  renewDocument: [NOT_BEFORE, 'all authorizations, all grants'],
  replaceMasterKey: [NOT_BEFORE, 'all authorizations, all grants, all initial_tokens, all interactions, all sessions'],
  revokeAllTokens: [NOT_BEFORE, 'all authorizations, all grants, all interactions, all sessions'],
  revokeClientTokens: [NOT_BEFORE, 'all authorizations, all grants'],
  revokeOrganizationTokens: [NOT_BEFORE, 'all authorizations, all grants'],
  sweepExpired: ['what is not visible yet has not expired, or is removed by the next sweep', undefined],
  sweepGrants: ['what is not visible yet has not expired, or is removed by the next round', 'user_id'],
  sweepConsents: ['a client that is not visible yet has no consents, and asking again is safe', 'client_id, user_id'],
}

/** The statements of one operation that was committed without others, in their order. */
export interface Decision {
  readonly name: OperationName
  readonly statements: readonly string[]
}

/** As the store locks the row of a user. */
const HOLDING = 'update users set password_hash = password_hash where user_id = $1'

/** An authorization and its grant have one id. */
const SAME_SHARD: Readonly<Record<string, string>> = { grant_id: 'authorization_id' }

const deciding = new AsyncLocalStorage<string[]>()

/** Adds a statement to the operation that sends it. */
export function noteStatement(text: string): void {
  deciding.getStore()?.push(text)
}

/** The store, which adds each operation to `decisions` that it commits without others. */
export function notingDecisions(store: StoreDriver, decisions: Decision[]): StoreDriver {
  return {
    ...store,
    commit(operations) {
      const [first] = operations
      if (first === undefined || operations.some(({ name }) => name !== first.name)) return store.commit(operations)
      const statements: string[] = []
      decisions.push({ name: first.name, statements })
      return deciding.run(statements, () => store.commit(operations))
    },
  }
}

/** Returns the operations that read other shards without a reason, those that did not run, and the reasons that are not needed. */
export function decisionFaults(decisions: readonly Decision[], names: readonly string[]): readonly string[] {
  const kinds = Map.groupBy(decisions, ({ name }) => name as string)
  const faults = names.map((name) => {
    const [why, expected = ''] = ACROSS[name] ?? []
    const ran = kinds.get(name)
    if (ran === undefined) return `${name} was not run without others`
    const found = [...new Set(ran.flatMap(readsAcross))].toSorted().join(', ')
    const isAny = why !== undefined && ACROSS[name]?.[1] === undefined && found !== ''
    return isAny || found === expected ? undefined : `${name} reads ${found || 'nothing'}, not ${expected || 'nothing'}`
  })
  return faults.filter((fault) => fault !== undefined)
}

/** The shard keys of what an operation reads besides that of its first statement, until it holds the user. */
function readsAcross({ statements }: Decision): readonly string[] {
  const data = statements.filter((text) => /^(select|insert|update|delete|with)\b/.test(text))
  const hold = data.findIndex((text) => text.startsWith(HOLDING))
  const [first, ...later] = (hold < 0 ? data : data.slice(0, hold)).map(placeOf)
  return later.filter(({ isRead, key }) => isRead && key !== first?.key).map(({ key }) => key)
}

interface Place {
  /** `grant_id`, or `all grants` if the statement does not name the shard. */
  readonly key: string
  readonly isRead: boolean
}

/** A plain insert reads nothing. */
function placeOf(text: string): Place {
  const tables = [...text.matchAll(/\b(?:from|into|update|join)\s+(\w+)/g)].map(([, table]) => table ?? '')
  const table = tables.find((name) => name in SHARD_KEYS)
  const isInsert = text.startsWith('insert')
  const isRead = !isInsert || /\bon conflict\b|\bselect\b/.test(text)
  if (table === undefined) return { key: 'copies', isRead }
  const column = SHARD_KEYS[table] ?? ''
  const key = SAME_SHARD[column] ?? column
  return { key: isInsert || new RegExp(`\\b${column} = `).test(text) ? key : `all ${table}`, isRead }
}
