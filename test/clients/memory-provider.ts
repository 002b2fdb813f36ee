import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'

/** The in-memory state that an MCP application keeps for the SDK, as in the SDK's own example. */
export interface MemoryProvider extends OAuthClientProvider {
  readonly redirectUrl: string
  /** The URL to which the SDK sends the user. undefined until then. */
  readonly link: () => URL | undefined
  readonly savedClient: () => OAuthClientInformationMixed | undefined
  readonly savedTokens: () => OAuthTokens | undefined
  /** The kinds of credentials that the SDK discarded, in order. */
  readonly thrownAway: readonly string[]
  readonly saveTokens: (tokens: OAuthTokens) => void
}

const CALLBACK = 'http://localhost:51004/callback'

export function openMemoryProvider(metadata: Partial<OAuthClientMetadata> = {}): MemoryProvider {
  let client: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let link: URL | undefined
  let discovery: ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>
  const thrownAway: string[] = []
  return {
    redirectUrl: metadata.redirect_uris?.[0] ?? CALLBACK,
    clientMetadata: {
      client_name: 'Notes for Ada',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...metadata,
    },
    state: () => 'state-of-the-client',
    clientInformation: () => client,
    saveClientInformation: (information) => void (client = information),
    tokens: () => tokens,
    saveTokens: (issued) => void (tokens = issued),
    redirectToAuthorization: (url) => void (link = url),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (state) => void (discovery = state),
    invalidateCredentials(scope) {
      thrownAway.push(scope)
      if (scope === 'all' || scope === 'client') client = undefined
      if (scope === 'all' || scope === 'tokens') tokens = undefined
      if (scope === 'all' || scope === 'discovery') discovery = undefined
    },
    link: () => link,
    savedClient: () => client,
    savedTokens: () => tokens,
    thrownAway,
  }
}
