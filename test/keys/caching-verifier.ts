import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import type { EpochMs } from '../../src/base/brand.ts'
import type { TestServer } from '../support/server.ts'

/**
 * An API that caches the keys for as long as `max-age` allows, to the last second, and never fetches them earlier because of
 * an unknown key. Another cache on the way, with the same `max-age`, doubles that time.
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

  /** Fetches the keys from one node after the other, as a load balancer does. */
  async #fetch(): Promise<void> {
    const node = this.#nodes[this.#fetches % this.#nodes.length] as TestServer
    this.#fetches += 1
    const answer = await node.inject({ method: 'GET', url: '/v2/oauth/jwks' })
    // A set that lacks keys for now is not to be cached.
    const maxAge = Number(/^public, max-age=(\d+)$/.exec(String(answer.headers['cache-control']))?.[1] ?? 0)
    this.#keys = createLocalJWKSet(answer.json<JSONWebKeySet>())
    this.#freshUntil = this.#now() + 2 * maxAge * 1000
  }
}
