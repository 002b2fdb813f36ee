import type { Adapter, AdapterPayload } from 'oidc-provider'

/**
 * A storage of plain maps for oidc-provider. The adapter that comes with it is for experiments and keeps only a thousand entries.
 */
export class MemoryAdapter implements Adapter {
  readonly #entries = new Map<string, AdapterPayload>()

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#entries.set(id, payload)
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#entries.get(id)
  }

  async findByUserCode(): Promise<undefined> {}

  async findByUid(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const payload = this.#entries.get(id)
    if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000)
  }

  async destroy(id: string): Promise<void> {
    this.#entries.delete(id)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, payload] of this.#entries) if (payload.grantId === grantId) this.#entries.delete(id)
  }
}
