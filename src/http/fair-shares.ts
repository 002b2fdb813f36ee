import type { EpochMs } from '../protocol/brand.ts'
import { openRecentlyUsed } from '../protocol/recently-used.ts'
import { networksAround } from './network.ts'

/** Divides what the whole server does in a minute among the networks that ask for it. */
export interface FairShares {
  /** Whether one more request of this network may pass. What passes is counted. */
  readonly admit: (network: string, now: EpochMs) => boolean
}

/** What the server, or one wider network, let through in a minute. */
interface Share {
  minute: number
  passed: number
  /** Networks directly inside that asked in this minute. */
  members: number
  /** The same of the minutes before, of which each counts half as much as the next. */
  crowd: number
}

const MINUTE_MS = 60_000
/** Networks, of any width, that are remembered at least, of those that asked last; at most twice as many. */
const SHARES = 20_000

/**
 * Half of `perMinute` is for the requests that come first. The other half is divided equally among the widest networks that
 * ask (/16 of IPv4, /32 of IPv6). The share of each is divided in the same way among its /24 or /48, and then among its
 * addresses or /64. So a network that asks for more than its share takes nothing from the shares of the others, and one
 * counter for all never locks all of them out (threats.md BND-02).
 */
export function openFairShares(perMinute: number): FairShares {
  const shares = openRecentlyUsed<Share>(SHARES)
  const server = newShare()

  /** The share of a network in this minute, after it was counted among the members of the wider one. */
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
        capacity = capacity / 2 / Math.max(1, wider.members, wider.crowd)
        isAdmitted ||= share.passed + 1 <= (name === network ? capacity : capacity / 2)
        path.push(share)
      }
      if (isAdmitted) for (const share of path) share.passed += 1
      return isAdmitted
    },
  }
}

function newShare(): Share {
  return { minute: -1, passed: 0, members: 0, crowd: 0 }
}

function renew(share: Share, minute: number): void {
  if (share.minute === minute) return
  share.crowd = Math.max(share.members, share.crowd / 2)
  share.minute = minute
  share.members = 0
  share.passed = 0
}
