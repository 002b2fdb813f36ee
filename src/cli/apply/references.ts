import { isIdentityScope } from '../../protocol/token/scope.ts'
import type { Members } from '../lib/perform-task.ts'
import type { FileRecord } from './document.ts'
import { KINDS, type Kind } from './kinds.ts'

/** The members that name other records. */
export const REFERENCES: readonly string[] = ['organization_id', 'scope']

/** What is in the store when the run is over. */
export interface Remaining {
  readonly described: readonly FileRecord[]
  /** What the record has before the run, which its task does not refuse. */
  readonly before: (record: FileRecord) => Members | undefined
  /** Besides what is described. */
  readonly has: (kind: Kind, key: string) => Promise<boolean>
  readonly list: (kind: Kind) => Promise<readonly Members[]>
}

/** Says which records name an organization or a scope that nothing has, so that their tasks would fail. */
export async function missingReferences(
  records: readonly FileRecord[],
  remaining: Remaining,
): Promise<readonly string[]> {
  return [...(await missingOrganizations(records, remaining)), ...(await missingScopes(records, remaining))]
}

async function missingOrganizations(
  records: readonly FileRecord[],
  { described, has }: Remaining,
): Promise<readonly string[]> {
  const organizations = kindOf('organization')
  const missing: string[] = []
  for (const { kind, key, members } of recordsOf(records, 'provider')) {
    const { organization_id: id } = members
    if (typeof id !== 'string' || recordsOf(described, 'organization').some((one) => one.key === id)) continue
    if (!(await has(organizations, id)))
      missing.push(`The ${kind.name} ${key}: no file and no record is the organization ${id}.`)
  }
  return missing
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
