import type { Context } from '../ports/context.ts'
import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import { countingGroups } from '../protocol/access/belonging.ts'
import { fitsToken, type GroupClaim, type GroupsMember, wordsOf } from '../protocol/access/group-claim.ts'
import type { UserId } from '../protocol/ids.ts'

/** Whose groups a claim says: of the server, and of the organization of the grant, which is enabled. */
type Subject = Pick<AccessTokenFacts, 'clientId' | 'organizationId' | 'resources'> & { readonly userId: UserId }

/** Returns the claim with all groups of now, for the userinfo endpoint and introspection. */
export async function findGroups(
  { clock, providers, store }: Context,
  claim: GroupClaim,
  { userId, organizationId }: Pick<Subject, 'userId' | 'organizationId'>,
): Promise<GroupsMember> {
  const [belonging, known] = await Promise.all([store.findBelonging(userId), providers()])
  const groups = countingGroups(belonging, { now: clock(), providers: known, organizationId })
  return { [claim.name]: wordsOf(claim, groups) }
}

/** The same for a token: undefined where it has no room for all of them. */
export async function findGroupsForToken(
  context: Context,
  claim: GroupClaim,
  subject: Subject,
): Promise<GroupsMember | undefined> {
  const found = await findGroups(context, claim, subject)
  if (Object.values(found).every(fitsToken)) return found
  reportGroupsLeftOut(context, subject)
  return undefined
}

/** Logs that a token lacks the claim, which is at the userinfo endpoint and in introspection. */
export function reportGroupsLeftOut(
  { record }: Pick<Context, 'record'>,
  { clientId: client, userId: user, resources: [api] }: Omit<Subject, 'organizationId'>,
): void {
  record({ event: 'groups.left-out', client, user, api })
}
