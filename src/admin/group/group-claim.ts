import * as z from 'zod'
import { MAXIMA } from '../../base/maxima.ts'
import { forShell } from '../../base/shell.ts'
import type { Context } from '../../ports/context.ts'
import {
  GROUP_CLAIM_NAMES,
  GROUP_WORD_FORM,
  type GroupClaim,
  groupsOfClaim,
  groupWordText,
  parseGroupWord,
} from '../../protocol/access/group-claim.ts'
import { type GroupId, parseGroupId } from '../../protocol/access/group.ts'
import { conflict } from '../admin-error.ts'

const GROUP_CLAIMS = ['off', ...GROUP_CLAIM_NAMES] as const
export const GROUP_CLAIM = z.enum(GROUP_CLAIMS).meta({ examples: ['groups'] })
const FAULT = { error: 'This is not a group, or a group, "=" and a word.' }
const PAIR = z
  .string()
  .regex(GROUP_WORD_FORM, { ...FAULT, abort: true })
  .refine((text) => parseGroupWord(text) !== undefined, FAULT)
  .meta({ examples: ['grafana-admins=Admin'] })
/** The groups that a client or an API reads, with its words. */
export const GROUP_WORDS = z
  .array(PAIR)
  .max(MAXIMA.groupWords.most)
  .meta({ uniqueItems: true, title: 'Groups and words' })
  .describe(
    'The groups that the claim may name, each with the word that it has there after a `=`: grafana-admins=Admin. Without a word it is the id. No group: all, by their ids.',
  )

/** The members of an answer. */
export interface GroupClaimDocument {
  readonly groups: (typeof GROUP_CLAIMS)[number]
  readonly group_words: string[]
}

/** No claim. */
export const GROUPS_OFF: GroupClaimDocument = { groups: 'off', group_words: [] }

export function describeGroupClaim(claim: GroupClaim | undefined): GroupClaimDocument {
  return claim === undefined ? GROUPS_OFF : { groups: claim.name, group_words: claim.words.map(groupWordText) }
}

/**
 * The claim after a change; what is absent stays. undefined: none.
 *
 * @throws AdminError when there are groups without a claim, or one is named twice
 */
export function groupClaimFrom(
  before: GroupClaim | undefined,
  given: {
    readonly groups: GroupClaimDocument['groups'] | undefined
    readonly words: readonly string[] | undefined
  },
): GroupClaim | undefined {
  const { groups: name = before?.name ?? 'off' } = given
  const words = given.words?.map(parseGroupWord).filter((pair) => pair !== undefined)
  if (name === 'off' && words !== undefined && words.length > 0)
    throw conflict('The words for groups need the claim that has them: groups, roles or entitlements.')
  if (name === 'off') return undefined
  const ids = (words ?? []).map(({ group }) => group)
  const repeated = ids.find((id, index) => ids.indexOf(id) < index)
  if (repeated !== undefined) throw conflict(`The group ${repeated} is named twice.`)
  return { name, words: words ?? before?.words ?? [] }
}

/**
 * Checks the groups that a claim names and did not before. `a=b` is the word b of the group a, although an id may have a `=` too: where there is
 * also a group a=b, the text could mean either.
 *
 * @throws AdminError that names a group that does not exist, or such a text
 */
export async function requireClaimGroups(
  context: Pick<Context, 'store'>,
  claim: GroupClaim,
  before: GroupClaim | undefined,
): Promise<void> {
  await requireGroups(context, groupsOfClaim(claim), groupsOfClaim(before))
  const known = new Set(before?.words.map(groupWordText))
  for (const { group, word } of claim.words) {
    const text = groupWordText({ group, word })
    const other = known.has(text) || word === group ? undefined : parseGroupId(text)
    if (other !== undefined && (await context.store.findGroup(other)) !== undefined)
      throw conflict(
        `${text} could be the group ${other}, or the word ${word} of the group ${group}. Give the group ${other} a word too, which follows the last "=", or choose another word for ${group}.`,
      )
  }
}

/** Checks that the groups exist which were not named before. @throws AdminError that names one that does not */
export async function requireGroups(
  { store }: Pick<Context, 'store'>,
  groups: readonly GroupId[],
  before: readonly GroupId[],
): Promise<void> {
  for (const group of groups) {
    if (before.includes(group)) continue
    if ((await store.findGroup(group)) === undefined)
      throw conflict(`There is no group ${group}. Create it first: grantor group create ${forShell(group)}`)
  }
}
