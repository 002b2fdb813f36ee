import type { EpochMs } from '../base/brand.ts'
import { networksAround } from '../base/networks-around.ts'
import { openRecentlyUsed } from '../base/recently-used.ts'

/** Divides the server's rate of requests per minute among the networks that send any. */
export interface FairShares {
  /** Whether one more request of this network may pass. A request that may pass is counted. */
  readonly admit: (network: string, now: EpochMs, question?: ShareQuestion) => boolean
  /** Takes a request off the counts that was admitted, because it turned out to use nothing. */
  readonly release: (network: string, now: EpochMs, question?: ShareQuestion) => void
}

export interface ShareQuestion {
  /** What has the rate, where that is not the server: each group has its own, such as each redirect host. */
  readonly group: string | undefined
  /** Whether a request may pass that comes first. By default the first half of the rate may. */
  readonly isEarly: boolean
}

/** The requests that the server admitted in a minute, of all networks or of one. */
interface Share {
  minute: number
  passed: number
  /** The networks one level below that sent requests in this minute. */
  members: number
  /** `members` of the previous minutes: each minute counts half as much as the following one. */
  recentMembers: number
}

const MINUTE_MS = 60_000
/** The least number of recently active networks, of any width, that are kept. At most twice as many are kept. */
const SHARES = 20_000

/**
 * Opens the shares of a rate. Half of `perMinute` is for the first requests, from any network. The other half is divided
 * equally among the widest active networks (/16 of IPv4, /32 of IPv6). The share of each is divided in the same way among its
 * /24 or /48, and then among its addresses or /64. So a network that exceeds its share takes nothing from the shares of the
 * others. With one counter for all networks, one network could lock out all others (threats.md BND-02).
 */
export function openFairShares(perMinute: number): FairShares {
  const shares = openRecentlyUsed<Share>(SHARES)
  const server = newShare()

  /** The share that is divided: that of the server, or of a group. */
  function rootOf(group: string | undefined, minute: number): Share {
    const root = group === undefined ? server : shares.getOrMake(group, newShare)
    renew(root, minute)
    return root
  }

  /** Returns the share of a network in this minute, and counts the network as a member of the wider one. */
  function enter(network: string, wider: Share, minute: number): Share {
    const share = shares.getOrMake(network, newShare)
    if (share.minute === minute) return share
    renew(share, minute)
    wider.members += 1
    return share
  }

  return {
    admit(network, now, question) {
      const minute = Math.floor(now / MINUTE_MS)
      const root = rootOf(question?.group, minute)
      const path = [root]
      let capacity = perMinute
      let isAdmitted = question?.isEarly ?? root.passed + 1 <= capacity / 2
      for (const name of networksAround(network)) {
        const wider = path.at(-1) as Share
        const share = enter(keyOf(name, question), wider, minute)
        capacity = capacity / 2 / Math.max(1, wider.members, wider.recentMembers)
        isAdmitted ||= share.passed + 1 <= (name === network ? capacity : capacity / 2)
        path.push(share)
      }
      if (isAdmitted) for (const share of path) share.passed += 1
      return isAdmitted
    },
    release(network, now, question) {
      const minute = Math.floor(now / MINUTE_MS)
      const names = networksAround(network).map((name) => keyOf(name, question))
      for (const share of [rootOf(question?.group, minute), ...names.map((name) => shares.get(name))])
        if (share?.minute === minute) share.passed = Math.max(0, share.passed - 1)
    },
  }
}

/** Networks of different groups have different shares. No network contains a space. */
function keyOf(network: string, question: ShareQuestion | undefined): string {
  return question?.group === undefined ? network : `${question.group} ${network}`
}

function newShare(): Share {
  return { minute: -1, passed: 0, members: 0, recentMembers: 0 }
}

function renew(share: Share, minute: number): void {
  if (share.minute === minute) return
  share.recentMembers = Math.max(share.members, share.recentMembers / 2)
  share.minute = minute
  share.members = 0
  share.passed = 0
}
