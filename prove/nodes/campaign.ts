import { registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { countGrants } from '../cluster/stored.ts'
import { openUser, type User } from '../cluster/user.ts'
import type { Findings } from '../findings.ts'
import { createDeviceClient } from '../cluster/device-client.ts'
import { assertionRounds } from './assertions.ts'
import { membershipRounds } from './memberships.ts'
import { codeRound, copiesRound, deviceRound, refreshRounds, theftRound, walkRound } from './rounds.ts'

type RoundKind = 'code' | 'device' | 'refresh' | 'copies' | 'theft' | 'walk' | 'assertion' | 'membership'

/** The resources of every round. */
export interface Campaign {
  readonly cluster: Cluster
  readonly findings: Findings
  readonly client: RegisteredClient
  /** A client with the device grant. */
  readonly deviceClient: RegisteredClient
  readonly user: User
  /** Concurrent requests. */
  readonly parallel: number
  /** Answers of 503. undefined: each of them is a violation. */
  unavailable: number | undefined
  /** The codes that gave tokens so far, and the grants that there were before. The store must have the same number of grants. */
  grants: number
}

export interface NodesOptions {
  readonly rounds: number
  readonly parallel: number
  /** Whether a database that is too slow may be reported with 503. */
  readonly mayBeUnavailable?: boolean
}

/** The refreshes of a family before the next family is created. */
const GENERATIONS = 10

/**
 * Sends concurrent requests of which only one may succeed to nodes that share only a database: `rounds` rounds of codes and of
 * refreshes, a tenth of that of devices, of copies of a refresh token, of thefts, of walks through the pages and of identity assertions, and a fiftieth
 * of a user who is removed from a group while tokens are introspected. Returns the rounds of each kind.
 */
export async function proveNodes(
  cluster: Cluster,
  findings: Findings,
  { rounds, parallel, mayBeUnavailable = false }: NodesOptions,
): Promise<Readonly<Record<RoundKind | 'unavailable', number>>> {
  const client = await registerClient(openRemoteServer(cluster))
  const user = await openUser(cluster, client)
  const unavailable = mayBeUnavailable ? 0 : undefined
  // Races of operations have left some before.
  const grants = await countGrants(cluster.database)
  const deviceClient = await createDeviceClient(cluster)
  const campaign: Campaign = { cluster, findings, client, deviceClient, user, parallel, unavailable, grants }
  const fewer = Math.ceil(rounds / 10)
  const counts: Record<RoundKind, number> = {
    code: 0,
    device: 0,
    refresh: 0,
    copies: 0,
    theft: 0,
    walk: 0,
    assertion: fewer,
    membership: Math.ceil(rounds / 50),
  }

  for (; counts.walk < fewer; counts.walk += 1) await walkRound(campaign, counts.walk)
  findings.progress(`${counts.walk} walks through the pages`)
  for (; counts.code < rounds; counts.code += 1) await codeRound(campaign)
  findings.progress(`${counts.code} rounds of one code`)
  for (; counts.device < fewer; counts.device += 1) await deviceRound(campaign, counts.device)
  findings.progress(`${counts.device} rounds of one device`)
  while (counts.refresh < rounds) {
    const generations = Math.min(GENERATIONS, rounds - counts.refresh)
    await refreshRounds(campaign, generations)
    counts.refresh += generations
  }
  findings.progress(`${counts.refresh} rounds of one refresh token`)
  for (; counts.copies < fewer; counts.copies += 1) await copiesRound(campaign)
  findings.progress(`${counts.copies} rounds of copies`)
  for (; counts.theft < fewer; counts.theft += 1) await theftRound(campaign)
  findings.progress(`${counts.theft} thefts`)
  await assertionRounds(campaign, fewer)
  findings.progress(`${counts.assertion} rounds of one assertion`)
  await membershipRounds(campaign, counts.membership)
  findings.progress(`${counts.membership} rounds of a member of a group`)
  return { ...counts, unavailable: campaign.unavailable ?? 0 }
}
