/** The description that a peer sends to the bench. It gets the same load as Grantor. */
export interface PeerDescription {
  readonly name: string
  readonly version: string
  /** A sentence about the data that survives a restart. */
  readonly keeps: string
  readonly port: number
  readonly endpoints: readonly PeerEndpoint[]
}

export interface PeerEndpoint {
  /** The bench's name of the equivalent endpoint of Grantor. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly contentType: string
  readonly status: number
  readonly contains: string
  readonly repeats: boolean
  readonly load: PeerLoad
}

/** The source of bodies: always the same one, one with a number, or one with a minted code or the newest refresh token. */
export type PeerLoad =
  | { readonly kind: 'same'; readonly body: string }
  | { readonly kind: 'numbered'; readonly before: string; readonly after: string }
  | { readonly kind: 'codes' | 'refresh-tokens'; readonly before: string }

/** Requests codes or refresh tokens from a peer, which creates them internally because no user signs in. */
export interface MintRequest {
  readonly kind: 'codes' | 'refresh-tokens'
  readonly count: number
}

export type PeerMessage =
  | { readonly kind: 'ready'; readonly description: PeerDescription }
  | { readonly kind: 'minted'; readonly values: readonly string[] }
