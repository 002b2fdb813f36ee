import * as z from 'zod'
import type { EpochMs } from '../../base/brand.ts'
import { iso, ISO_OR_NULL } from '../../base/iso.ts'
import type { OrganizationRecord } from '../../ports/records/organization.ts'
import { type GroupId, organizationOfGroup } from '../../protocol/access/group.ts'
import type { Person } from '../../protocol/access/judge.ts'
import type { UserId } from '../../protocol/ids.ts'
import { findPerson, type NamedByRules } from '../../tokens/access-rules.ts'
import { listAudit, type AuditEntry } from '../audit/list.ts'
import { sayings } from '../group/group.ts'
import type { TaskContext } from '../task.ts'

/** A membership that ended so long ago is not looked for. */
const RECENT_MS = 30 * 86_400_000
/** Of the newest changes of groups of a person. */
const CHANGES = 50

/** That the person is in a group, or was lately. */
export const PERSON_GROUP = z
  .object({
    group_id: z.string(),
    source: z
      .string()
      .describe('Who says it: `operator`, `application` or `provider:<id>`; of an ended membership, who said it.'),
    created_at: ISO_OR_NULL.describe('null: it is no longer known.'),
    expires_at: ISO_OR_NULL.describe('The end; null: there is none, or it is not known.'),
    ended_at: ISO_OR_NULL.describe('When it was removed; null: it was not.'),
    counts: z.boolean().describe('Whether the person is in the group now, because of this.'),
  })
  .meta({ id: 'PersonGroup' })
export type PersonGroup = z.output<typeof PERSON_GROUP>

/** The person with all groups and organizations that count, and what the administrator may know of the groups. */
export interface ShownPerson {
  readonly person: Person
  readonly groups: readonly PersonGroup[]
}

/** As if a rule named each group and each organization. */
const EVERYTHING: NamedByRules = { isNone: false, hasGroup: () => true, hasOrganization: () => true }

/**
 * Reads what the person belongs to, as the rules see it. An administrator of one organization sees the groups of that alone (threats.md CON-08).
 */
export async function findShownPerson(
  context: TaskContext,
  userId: UserId,
  organization: OrganizationRecord | undefined,
): Promise<ShownPerson> {
  const { store } = context
  const [rows, say, person] = await Promise.all([
    store.listGroupsOfUser(userId),
    sayings(context),
    findPerson(context, userId, EVERYTHING),
  ])
  const current = rows.map((row): PersonGroup => {
    const said = say(row)
    return {
      group_id: row.groupId,
      ...said,
      ended_at: null,
      counts: said.counts && person.groups.includes(row.groupId),
    }
  })
  const stored = new Set(rows.map((row) => `${row.groupId} ${row.source}`))
  const isKept = (one: PersonGroup): boolean => !stored.has(`${one.group_id} ${one.source}`)
  const ended = (await listEnded(context, userId, organization)).filter(isKept)
  return { person, groups: [...current, ...ended].filter((group) => isSeen(context, group.group_id)) }
}

function isSeen({ administrator }: TaskContext, id: string): boolean {
  const { organizationId } = administrator
  return organizationId === undefined || organizationOfGroup(id as GroupId) === organizationId
}

/** The memberships that ended lately, as the newest changes in the audit have them: removed, or added with an end or by a source that says it no longer. */
async function listEnded(
  context: TaskContext,
  userId: UserId,
  organization: OrganizationRecord | undefined,
): Promise<readonly PersonGroup[]> {
  const { organizationId } = context.administrator
  // An earlier organization may have had the id.
  const since = Math.max(0, organization?.createdAt ?? 0, context.clock() - RECENT_MS) as EpochMs
  const filter = { userId, organizationId, event: 'group.', since }
  const { rows } = await listAudit(context, { ...filter, before: undefined, limit: CHANGES })
  const newest = new Map<string, AuditEntry>()
  for (const entry of rows) {
    const key = `${entry.details?.['group'] as string} ${entry.details?.['source'] as string}`
    if (!newest.has(key)) newest.set(key, entry)
  }
  return [...newest.values()].map(({ event, recordedAt, details = {} }) => {
    const until = details['until']
    return {
      group_id: String(details['group']),
      source: String(details['source']),
      created_at: event === 'group.member-added' ? iso(recordedAt) : null,
      expires_at: typeof until === 'number' ? iso(until as EpochMs) : null,
      ended_at: event === 'group.member-removed' ? iso(recordedAt) : null,
      counts: false,
    }
  })
}
