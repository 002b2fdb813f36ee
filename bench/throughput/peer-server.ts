import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { startChild } from '../../tools/process/children.ts'
import type { Endpoint } from '../endpoints.ts'
import type { Bodies } from '../load/slice.ts'
import type { MintRequest, PeerDescription, PeerEndpoint, PeerMessage } from './peer.ts'

/** Other servers that can be measured together with Grantor. Each has a file in bench/peers. */
export const PEER_NAMES = ['oidc-provider', 'node-oauth', 'mcp-sdk', 'better-auth'] as const
export type PeerName = (typeof PEER_NAMES)[number]

/** A running peer. */
export interface PeerServer {
  readonly pid: number
  readonly description: PeerDescription
  readonly endpoints: readonly Endpoint[]
}

const INSTALLED = new URL('../peers/node_modules/', import.meta.url)

/** Starts a peer. Throws if the peers' packages are not installed; the product's own installation does not include them. */
export async function startPeer(name: PeerName, core: number | undefined): Promise<PeerServer> {
  if (!existsSync(INSTALLED)) throw new Error('The peers are not installed: npm install --prefix bench/peers')
  const child = startChild({ script: new URL(`../peers/${name}.ts`, import.meta.url), core })
  const [message] = (await once(child, 'message')) as [PeerMessage]
  if (message.kind !== 'ready') throw new Error(`${name} did not start.`)

  async function mint(request: MintRequest): Promise<readonly string[]> {
    const answer = once(child, 'message') as Promise<[PeerMessage]>
    child.send(request)
    const [minted] = await answer
    return minted.kind === 'minted' ? minted.values : []
  }

  const { description } = message
  return { pid: child.pid, description, endpoints: description.endpoints.map((one) => endpointOf(one, mint)) }
}

function endpointOf(peer: PeerEndpoint, mint: (request: MintRequest) => Promise<readonly string[]>): Endpoint {
  const { load, ...fixed } = peer
  let sent = 0
  let tokens: readonly string[] = []

  async function prepare(count: number, connections: number): Promise<Bodies> {
    switch (load.kind) {
      case 'same':
        return load
      case 'numbered':
        return { ...load, first: sent }
      case 'codes': {
        const codes = await mint({ kind: 'codes', count })
        return { kind: 'once', bodies: codes.map((code) => load.before + code) }
      }
      case 'refresh-tokens':
        if (tokens.length !== connections) tokens = await mint({ kind: 'refresh-tokens', count: connections })
        return { kind: 'chain', before: load.before, member: 'refresh_token', tokens }
    }
  }

  return {
    ...fixed,
    name: fixed.name as Endpoint['name'],
    gate: undefined,
    prepare,
    carryOn(left) {
      sent += left.total
      if (load.kind === 'refresh-tokens') tokens = left.tokens
    },
  }
}
