import type { Context } from '../../../ports/context.ts'
import type { SignInGroups } from '../../../ports/operations/session.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import type { UpstreamGroups } from '../../../ports/provider-sign-in.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { groupsIn, pairsWith } from '../../../protocol/access/provider-groups.ts'
import { reportFailure } from './depart.ts'

/** The groups in a sealed value: a digest of the settings by which they were read, and the places of the pairs that the provider said. */
export type SealedGroups = readonly [readBy: string, ...places: string[]]

const DAY_MS = 24 * 60 * 60 * 1000

/** What the session stores of what a provider said. undefined: the provider is not asked, or did not answer, and what it said before stays. */
export function groupsSaid(context: Context, provider: ProviderRecord, said: UpstreamGroups): SignInGroups | undefined {
  if (said.kind === 'unknown') reportFailure(context, provider, 'groups')
  return said.kind === 'said'
    ? groupsOf(context, provider, pairsWith(provider.settings.groups, said.values))
    : undefined
}

/** Makes what a sealed value has of the groups: a list of ids would not fit into a form. */
export function sealGroups(context: Context, groups: SignInGroups | undefined): SealedGroups | null {
  if (groups === undefined) return null
  const said = new Set(groups.groups)
  const places = groups.readBy.groups.flatMap((pair, place) =>
    groupsIn([pair]).some((id) => said.has(id)) ? String(place) : [],
  )
  return [readDigest(context, groups.readBy), ...places]
}

/** The groups of a sealed value. `otherwise`: the provider does not read them as it did. */
export async function openGroups(
  context: Context,
  providerId: ProviderRecord['id'] | null,
  sealed: SealedGroups | null,
): Promise<SignInGroups | 'otherwise' | undefined> {
  if (sealed === null || providerId === null) return undefined
  const [readBy, ...places] = sealed
  const provider = await context.store.findProvider(providerId)
  if (provider === undefined || readDigest(context, provider.settings) !== readBy) return 'otherwise'
  const { groups: list } = provider.settings
  return groupsOf(
    context,
    provider,
    list.filter((_, place) => places.includes(String(place))),
  )
}

function groupsOf(
  { clockCheck }: Context,
  { settings: { groupClaim, groupDays, groups } }: ProviderRecord,
  pairs: readonly string[],
): SignInGroups {
  const expiresAt: EpochMs = after(clockCheck.now(), groupDays * DAY_MS)
  return { groups: groupsIn(pairs), expiresAt, readBy: { groupClaim, groups } }
}

function readDigest({ secrets }: Context, { groupClaim = '', groups }: SignInGroups['readBy']): string {
  return secrets.digest('sealed', ['groups', groupClaim, ...groups])
}
