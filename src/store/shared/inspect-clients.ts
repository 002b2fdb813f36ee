import type { ClientInspection } from '../../ports/inspection.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { EpochMs } from '../../base/brand.ts'
import { MAXIMA } from '../../base/maxima.ts'
import type { GroupId } from '../../protocol/access/group.ts'
import { groupsOfClaim } from '../../protocol/access/group-claim.ts'
import { groupsIn } from '../../protocol/access/provider-groups.ts'
import { SLOW } from '../../protocol/client/authentication.ts'
import { CONSOLE_CLIENT_ID } from '../../protocol/client/console.ts'
import { CHOSEN_PREFIX } from '../../protocol/client/identifier.ts'
import type { UserId } from '../../protocol/ids.ts'
import { listedClients } from '../../protocol/sign-in/provider.ts'
import { domainRules } from '../nouns/client/domain-rules.ts'
import { CLIENTS, clients } from '../nouns/client/clients.ts'
import { inspectSpellings } from '../nouns/user/users.ts'
import { listRegistrationCounts } from '../nouns/client/registration-counts.ts'
import { inspectRoles } from '../nouns/user/roles.ts'
import { inspectAccess } from './inspect-access.ts'
import { listOf, rows, shared, type Steps } from './statement.ts'
import { settings } from '../nouns/server/settings.ts'
import { apis } from '../nouns/server/apis.ts'
import { providers } from '../nouns/user/providers.ts'
import { grants } from '../nouns/token/grants.ts'

/** The newest clients, and the newest grants, that the doctor examines. */
const INSPECTED = 1000
/** Chosen ids that the doctor examines. */
const CHOSEN_INSPECTED = 10_000
/** Groups that something names, of which the doctor looks whether they exist. */
const GROUPS_INSPECTED = 10_000
const DELEGATE_UNTIL = shared(
  `select max(expires_at) as until from admin_credentials where access = 'delegate' and revoked_at is null`,
)
const LIST_THESE = shared(`select * from clients where client_id = any(string_to_array(:ids, ' '))`)
const GROUPS_OF = shared(`select group_id from user_groups where group_id = any(string_to_array(:ids, ' '))`)
const SERVER_GROUPS = shared(
  'select group_id from user_groups where organization_id is null order by group_id limit :limit',
)
const NEXT_MAIL = shared('select min(due_at) as due_at from mails')
const IS_CHOSEN = `client_id > '${CHOSEN_PREFIX}' and client_id < '${CHOSEN_PREFIX}~'`
const CHOSEN = shared(`select chosen_id from clients where ${IS_CHOSEN} order by client_id limit :limit`)
const USERS_WITH = shared(`select user_id from users where user_id = any(string_to_array(:ids, ' ')) order by user_id`)
/** An import keeps the id of a client, so all of them have chosen ones. */
const IMPORTED_HASHES = shared(
  `select chosen_id, used_at from clients
   where ${IS_CHOSEN} and substr(secret_hash, 1, ${SLOW.length}) = '${SLOW}' order by client_id limit :limit`,
)

/** Reads what the doctor needs to find clients that would not be accepted again, a flood of registrations, users who cannot sign in, and mail that is not sent. */
export function* inspectClients(): Steps<ClientInspection> {
  const known = yield* providers.reads.listProviders()
  const ids = listOf([CONSOLE_CLIENT_ID, ...listedClients(known)])
  const listed = (yield* rows(LIST_THESE, { ids })).map(CLIENTS.read)
  const [credentials] = yield* rows(DELEGATE_UNTIL)
  const [mail] = yield* rows(NEXT_MAIL)
  return {
    newest: yield* clients.reads.listClients({ before: undefined, limit: INSPECTED }),
    grants: yield* grants.reads.listGrants({ before: undefined, limit: INSPECTED }),
    domains: yield* domainRules.reads.listDomainRules(),
    registrations: yield* listRegistrationCounts(),
    delegateUntil: (credentials?.['until'] ?? undefined) as EpochMs | undefined,
    providers: known,
    listed,
    ...(yield* inspectGroups(known)),
    access: yield* inspectAccess(),
    roles: yield* inspectRoles(),
    consoleDisabledAt: listed.find(({ id }) => id === CONSOLE_CLIENT_ID)?.disabledAt,
    mailDueAt: (mail?.['due_at'] ?? undefined) as EpochMs | undefined,
    usersWithClientId: yield* findUsersWithClientId(),
    spellings: yield* inspectSpellings(),
    importedHashes: yield* findImportedHashes(),
    passwordFormats: yield* settings.reads.findPasswordFormats(),
  }
}

/** What reads groups, and what a race of the deletion of a group with a change of what names it left. */
function* inspectGroups(
  known: readonly ProviderRecord[],
): Steps<Pick<ClientInspection, 'apis' | 'groupReaders' | 'missingGroups' | 'serverGroups'>> {
  const all = yield* apis.reads.listApis()
  const groupReaders = yield* clients.reads.listGroupReaders({ before: undefined, limit: INSPECTED })
  const claims = [...all.map(({ groups }) => groups), ...groupReaders.map(({ rules }) => rules.groupClaim)]
  const ids = [...known.flatMap(({ settings: { groups } }) => groupsIn(groups)), ...claims.flatMap(groupsOfClaim)]
  const named = [...new Set(ids)].slice(0, GROUPS_INSPECTED)
  const found = new Set((yield* rows(GROUPS_OF, { ids: listOf(named) })).map((row) => row['group_id']))
  const first = yield* rows(SERVER_GROUPS, { limit: MAXIMA.groupsOfToken.most + 1 })
  return {
    apis: all,
    groupReaders,
    missingGroups: named.filter((id) => !found.has(id)),
    serverGroups: first.map((row) => row['group_id'] as GroupId),
  }
}

/** The users who have the id of a client. */
function* findUsersWithClientId(): Steps<readonly UserId[]> {
  const chosen = yield* rows(CHOSEN, { limit: CHOSEN_INSPECTED })
  const ids = listOf(chosen.map((row) => row['chosen_id'] as string))
  return (yield* rows(USERS_WITH, { ids })).map((row) => row['user_id'] as UserId)
}

function* findImportedHashes(): Steps<ClientInspection['importedHashes']> {
  const found = yield* rows(IMPORTED_HASHES, { limit: CHOSEN_INSPECTED })
  return found.map((row) => ({ clientId: row['chosen_id'] as string, isUsed: row['used_at'] !== null }))
}
