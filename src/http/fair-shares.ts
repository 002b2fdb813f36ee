import type { EpochMs } from '../protocol/brand.ts'
import { openRecentlyUsed } from '../protocol/recently-used.ts'
import { networksAround } from './network.ts'

/** Divides the server's rate of requests per minute among the networks that send any. */
export interface FairShares {
  /** Whether one more request of this network may pass. A request that may pass is counted. */
  readonly admit: (network: string, now: EpochMs) => boolean
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

  /** Returns the share of a network in this minute, and counts the network as a member of the wider one. */
  function enter(network: string, wider: Share, minute: number): Share {
    const share = shares.get(network) ?? newShare()
    if (share.minute === minute) return share
    renew(share, minute)
    wider.members += 1
    shares.set(network, share)
    return share
  }

  return {
    admit(network, now) {
      const minute = Math.floor(now / MINUTE_MS)
      renew(server, minute)
      const path = [server]
      let capacity = perMinute
      let isAdmitted = server.passed + 1 <= capacity / 2
      for (const name of networksAround(network)) {
        const wider = path.at(-1) as Share
        const share = enter(name, wider, minute)
        capacity = capacity / 2 / Math.max(1, wider.members, wider.recentMembers)
        isAdmitted ||= share.passed + 1 <= (name === network ? capacity : capacity / 2)
        path.push(share)
      }
      if (isAdmitted) for (const share of path) share.passed += 1
      return isAdmitted
    },
  }
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
