import type { Agent } from '../../base/agent.ts'
import { coarseNetwork } from '../../base/networks-around.ts'

/** Where the request of an event came from, as members of its `details`: enough to recognise an own device, and no more. */
export interface Origin {
  /** `Firefox` */
  readonly browser?: string
  /** `Linux` */
  readonly system?: string
  /** `203.0.113.0/24` or `2001:db8:1::/48`: coarser than what limits count by. */
  readonly network?: string
}

/** `network`: what limits count by. undefined: the caller is unknown. */
export function originOf(agent: Agent | undefined, network: string | undefined): Origin {
  const coarse = network === undefined ? undefined : coarseNetwork(network)
  return {
    ...(agent !== undefined && { browser: agent.browser }),
    ...(agent?.system !== undefined && { system: agent.system }),
    ...(coarse !== undefined && { network: coarse }),
  }
}
