import type { ProviderSettings } from '../protocol/sign-in/provider.ts'
import type { UpstreamBinding } from '../ports/provider-sign-in.ts'
import type { Library } from './provider-fetch.ts'

/** The parameters that each authorization request to a provider has. RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1. */
export async function authorizationParameters(
  library: Library,
  { kind, scope }: Pick<ProviderSettings, 'kind' | 'scope'>,
  { state, codeVerifier, nonce, redirectUri }: UpstreamBinding,
): Promise<Readonly<Record<string, string>>> {
  return {
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(kind === 'oidc' ? { nonce } : {}),
  }
}
