import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import type { EpochMs } from '../../src/protocol/brand.ts'
import type { TestServer } from '../server.ts'

/**
 * An API that keeps the keys for as long as it is told, to the last second, and never looks for an unknown one before. A
 * cache on the way, told the same, makes it as bad again.
 */
export class CachingVerifier {
  readonly #nodes: readonly TestServer[]
  readonly #now: () => EpochMs
  #fetches = 0
  #keys = createLocalJWKSet({ keys: [] })
  #freshUntil = 0

  constructor(nodes: readonly TestServer[], now: () => EpochMs) {
    this.#nodes = nodes
    this.#now = now
  }

  /** Fails the test when the token does not verify. */
  async verify(token: string): Promise<void> {
    if (this.#now() >= this.#freshUntil) await this.#fetch()
    const options = { typ: 'at+jwt', currentDate: new Date(this.#now()) }
    await jwtVerify(token, this.#keys, options)
  }

  /** From one node after the other, as a load balancer does. */
  async #fetch(): Promise<void> {
    const node = this.#nodes[this.#fetches % this.#nodes.length] as TestServer
    this.#fetches += 1
    const answer = await node.inject({ method: 'GET', url: '/v2/oauth/jwks' })
    const maxAge = Number(/^public, max-age=(\d+)$/.exec(String(answer.headers['cache-control']))?.[1])
    this.#keys = createLocalJWKSet(answer.json<JSONWebKeySet>())
    this.#freshUntil = this.#now() + 2 * maxAge * 1000
  }
}
