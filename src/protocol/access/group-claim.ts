import type { GroupId } from './group.ts'

/** How a client or an API reads the groups of a user: the claim, and the word that it has for each group. */
export interface GroupClaim {
  /** RFC 9068 §2.2.3.1. */
  readonly name: 'groups' | 'roles' | 'entitlements'
  /** Empty: every group that counts, by its id. Otherwise the only groups. */
  readonly words: readonly GroupWord[]
}

export interface GroupWord {
  readonly group: GroupId
  readonly word: string
}
