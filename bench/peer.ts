/** What a peer says of itself to the bench, which sends the same load to it as to Grantor. */
export interface PeerDescription {
  readonly name: string
  readonly version: string
  /** What survives a restart, in a sentence. */
  readonly keeps: string
  readonly port: number
  readonly endpoints: readonly PeerEndpoint[]
}

export interface PeerEndpoint {
  /** As the same endpoint of Grantor is called in the bench. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly contentType: string
  readonly status: number
  readonly contains: string
  readonly repeats: boolean
  readonly load: PeerLoad
}

/** Where bodies come from: always one, one with a number, or one of a minted code or of the newest refresh token. */
export type PeerLoad =
  | { readonly kind: 'same'; readonly body: string }
  | { readonly kind: 'numbered'; readonly before: string; readonly after: string }
  | { readonly kind: 'codes' | 'refresh-tokens'; readonly before: string }

/** Asks a peer for codes or refresh tokens: made inside, because nobody signs in here. */
export interface MintRequest {
  readonly kind: 'codes' | 'refresh-tokens'
  readonly count: number
}

export type PeerMessage =
  | { readonly kind: 'ready'; readonly description: PeerDescription }
  | { readonly kind: 'minted'; readonly values: readonly string[] }
