import { MAXIMA } from '../../base/maxima.ts'
import { GROUP_ID_FORM, type GroupId, parseGroupId } from './group.ts'

/** The names that the claim may have (RFC 9068 §2.2.3.1). */
export const GROUP_CLAIM_NAMES = ['groups', 'roles', 'entitlements'] as const

/** How a client or an API reads the groups of a user: the claim, and the word that it has for each group. */
export interface GroupClaim {
  /** RFC 9068 §2.2.3.1. */
  readonly name: (typeof GROUP_CLAIM_NAMES)[number]
  /** Empty: every group that counts, by its id. Otherwise the only groups. */
  readonly words: readonly GroupWord[]
}

/** The claim of a user: `{"groups": ["dev", "finance"]}`. A list also for one group or none. */
export type GroupsMember = { readonly [Name in GroupClaim['name']]?: readonly string[] }

export interface GroupWord {
  readonly group: GroupId
  readonly word: string
}

/** The groups that a claim may name; none if it names all. */
export function groupsOfClaim(claim: GroupClaim | undefined): readonly GroupId[] {
  return (claim?.words ?? []).map(({ group }) => group)
}

/** A group and its word, as an administrator writes them: `grafana-admins=Admin`, or `dev` for the id itself. An id may have a `=`, and no word has one. */
export const GROUP_WORD_FORM = new RegExp(
  `${GROUP_ID_FORM.source.slice(0, -1)}(?:=[^=\\p{C}\\p{Zl}\\p{Zp}]{1,${MAXIMA.groupWord.most}})?$`,
  'u',
)

/** Returns undefined if the text does not have the syntax of a pair. */
export function parseGroupWord(text: string): GroupWord | undefined {
  const [, id = text, word = id] = /^(.*)=([^=]+)$/s.exec(text) ?? []
  const group = parseGroupId(id)
  return group === undefined || !GROUP_WORD_FORM.test(text) ? undefined : { group, word }
}

export function groupWordText({ group, word }: GroupWord): string {
  return word === group ? group : `${group}=${word}`
}

/** The value of the claim for the groups that count, which are sorted: sorted, each word once. */
export function wordsOf({ words }: GroupClaim, groups: readonly GroupId[]): readonly string[] {
  if (words.length === 0) return groups
  const counting = new Set(groups)
  const known = words.filter(({ group }) => counting.has(group)).map(({ word }) => word)
  return [...new Set(known)].toSorted()
}

/**
 * Whether a token has room for the value. A token has all of it or none: an application that reads a part would refuse users at random, and
 * would let in those whom "all except" a group means.
 */
export function fitsToken(value: readonly string[]): boolean {
  if (value.length > MAXIMA.groupsOfToken.most) return false
  return Buffer.byteLength(JSON.stringify(value)) <= MAXIMA.groupsInToken.most
}
