import { type GroupId, organizationOfGroup } from '../../protocol/access/group.ts'
import { ANY_ORGANIZATION } from '../../protocol/access/judge.ts'
import { parseGroupWord } from '../../protocol/access/group-claim.ts'
import { groupsIn } from '../../protocol/access/provider-groups.ts'
import { isIdentityScope } from '../../protocol/token/scope.ts'
import type { Members } from '../lib/perform-task.ts'
import type { FileRecord } from './document.ts'
import { KINDS, type Kind } from './kinds.ts'

/** The members that name other records. */
export const REFERENCES: readonly string[] = ['organization_id', 'organizations', 'except_organizations', 'scope']

/** What is in the store when the run is over. */
export interface Remaining {
  readonly described: readonly FileRecord[]
  /** What the record has before the run, which its task does not refuse. */
  readonly before: (record: FileRecord) => Members | undefined
  /** Besides what is described. */
  readonly has: (kind: Kind, key: string) => Promise<boolean>
  readonly list: (kind: Kind) => Promise<readonly Members[]>
}

/** Says which records name an organization, a group or a scope that nothing has, so that their tasks would fail. */
export async function missingReferences(
  records: readonly FileRecord[],
  remaining: Remaining,
): Promise<readonly string[]> {
  return [
    ...(await missingRecords('organization', records, remaining, organizationsOf)),
    // Also for records that do not change: a group that they name is not deleted.
    ...(await missingRecords('group', remaining.described, remaining, groupsOf)),
    ...(await missingScopes(records, remaining)),
  ]
}

/** `namedBy`: the keys of the records of a kind that a record names. */
async function missingRecords(
  name: Kind['name'],
  records: readonly FileRecord[],
  { described, has }: Remaining,
  namedBy: (record: FileRecord) => readonly string[],
): Promise<readonly string[]> {
  const known = new Set(recordsOf(described, name).map(({ key }) => key))
  const missing: string[] = []
  for (const record of records) {
    const { kind, key } = record
    for (const named of namedBy(record)) {
      if (known.has(named) || (await has(kindOf(name), named))) continue
      missing.push(`The ${kind.name} ${key}: no file and no record is the ${name} ${named}.`)
    }
  }
  return missing
}

function organizationsOf({ kind, key, members }: FileRecord): readonly string[] {
  if (kind.name === 'access-rule') return namedIn(members, 'organizations').filter((id) => id !== ANY_ORGANIZATION)
  const id = kind.name === 'group' ? organizationOfGroup(key as GroupId) : members['organization_id']
  return typeof id === 'string' ? [id] : []
}

/** Of a client its rules name them, of a provider its list of values. */
function groupsOf({ kind, members }: FileRecord): readonly string[] {
  if (kind.name === 'access-rule') return namedIn(members, 'groups')
  if (kind.name === 'provider') return groupsIn((members['groups'] ?? []) as readonly string[])
  const { group_words: words = [] } = (kind.name === 'client' ? (members['rules'] ?? {}) : members) as Members
  return (words as readonly string[]).flatMap((text) => parseGroupWord(text)?.group ?? [])
}

/** What an access rule names, and what it leaves out. */
function namedIn(members: Members, list: 'groups' | 'organizations'): readonly string[] {
  return [...((members[list] ?? []) as readonly string[]), ...((members[`except_${list}`] ?? []) as readonly string[])]
}

async function missingScopes(
  records: readonly FileRecord[],
  { described: all, before, list }: Remaining,
): Promise<readonly string[]> {
  const clients = recordsOf(records, 'client').filter(({ members }) => scopesOf(members).length > 0)
  if (clients.length === 0) return []
  const described = recordsOf(all, 'api')
  const others = (await list(kindOf('api'))).filter((row) => !described.some(({ key }) => key === row['resource']))
  const apis = [...described.map(({ members }) => members), ...others]
  // A server for a first try accepts any scope until an API is declared, and its task knows whether this is one.
  if (apis.length === 0) return []
  const declared = new Set(apis.flatMap(({ scopes }) => ((scopes ?? []) as readonly Members[]).map(({ name }) => name)))
  return clients.flatMap((record) => {
    const { kind, key, members } = record
    const had = scopesOf(before(record) ?? {})
    const missing = scopesOf(members).filter(
      (name) => !isIdentityScope(name) && !declared.has(name) && !had.includes(name),
    )
    return missing.length === 0 ? [] : [`The ${kind.name} ${key}: no API declares ${missing.join(', ')}.`]
  })
}

function scopesOf({ scope }: Members): readonly string[] {
  return typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : []
}

function recordsOf(records: readonly FileRecord[], name: Kind['name']): readonly FileRecord[] {
  return records.filter(({ kind }) => kind.name === name)
}

function kindOf(name: Kind['name']): Kind {
  return KINDS.find((one) => one.name === name) as Kind
}
