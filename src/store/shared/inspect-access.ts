import type { AccessInspection } from '../../ports/inspection.ts'
import type { GroupId } from '../../protocol/access/group.ts'
import { ANY_ORGANIZATION, valueOf } from '../../protocol/access/judge.ts'
import type { AccessRule } from '../../protocol/access/rule.ts'
import { parseClientIdentifier } from '../../protocol/client/identifier.ts'
import { accessRules } from '../nouns/organization/access-rules.ts'
import { organizations } from '../nouns/organization/organizations.ts'
import { listOf, rows, shared, type SharedStatement, type Steps } from './statement.ts'

/** The newest organizations that the doctor examines. */
const INSPECTED = 1000
const GROUPS = shared(`select group_id as id from user_groups where group_id = any(string_to_array(:ids, ' '))`)
const FILLED = shared(
  `select distinct group_id as id from group_members where group_id = any(string_to_array(:ids, ' '))`,
)
const ORGANIZATIONS = shared(
  `select organization_id as id from organizations where organization_id = any(string_to_array(:ids, ' '))`,
)
const USERS = shared(`select user_id as id from users where user_id = any(string_to_array(:ids, ' '))`)
const KNOWN_CLIENTS = shared(`select client_id as id from clients where client_id = any(string_to_array(:ids, ' '))`)

/** Reads the access rules, and which of the records that they name are gone. */
export function* inspectAccess(): Steps<AccessInspection> {
  const ofServer = (yield* accessRules.reads.listAccessRules()).map((rule) => ({ rule, organizationId: undefined }))
  const newest = yield* organizations.reads.listOrganizations({ before: undefined, limit: INSPECTED })
  const ofOrganizations = newest.flatMap(({ id, accessRules: own }) =>
    own.map((rule) => ({ rule, organizationId: id })),
  )
  const rules = [...ofServer, ...ofOrganizations]
  const named = (kind: string): readonly string[] => [...new Set(rules.flatMap(({ rule }) => termsOf(rule, kind)))]
  // A document that no one has used yet is not gone.
  const known = named('client').filter((text) => parseClientIdentifier(text)?.documentUrl === undefined)
  const clientIds = new Map(known.map((text) => [parseClientIdentifier(text)?.id ?? text, text]))
  const goneClients = yield* missing(KNOWN_CLIENTS, [...clientIds.keys()])
  return {
    rules,
    emptyGroups: (yield* missing(FILLED, named('group'))) as readonly GroupId[],
    gone: new Set([
      ...(yield* missing(GROUPS, named('group'))).map((id) => `group:${id}`),
      ...goneClients.map((id) => `client:${clientIds.get(id) ?? id}`),
      ...(yield* missing(
        ORGANIZATIONS,
        named('organization').filter((id) => id !== ANY_ORGANIZATION),
      )).map((id) => `organization:${id}`),
      ...(yield* missing(USERS, named('user'))).map((id) => `user:${id}`),
    ]),
  }
}

function termsOf({ clients: ofClients, people }: AccessRule, kind: string): readonly string[] {
  const terms: readonly string[] = [...ofClients.only, ...ofClients.except, ...people.only, ...people.except]
  return terms.filter((term) => term.startsWith(`${kind}:`)).map(valueOf)
}

/** Those of the ids of which a statement finds no row. */
function* missing(statement: SharedStatement, ids: readonly string[]): Steps<readonly string[]> {
  const named = [...new Set(ids)]
  const found = new Set((yield* rows(statement, { ids: listOf(named) })).map((row) => row['id']))
  return named.filter((id) => !found.has(id))
}
