import * as client from 'openid-client'
import { openPerson } from './person.ts'

/** The user at the server is that of flow.ts. */

const CALLBACK = 'https://app.example/callback'

/** What a released client got. */
export interface Walked {
  readonly subject: string
  readonly accessToken: string
  readonly refreshToken: string
}

/**
 * Lets a released client find the server by its metadata, register, send the user to it, redeem the code and refresh. The user signs in
 * where the server asks for it, and consents.
 *
 * @throws Error when the client rejects a step, or the user cannot continue
 */
export async function walkWithClient(
  issuer: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Walked> {
  const config = await client.dynamicClientRegistration(
    new URL(issuer),
    { redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'], client_name: 'Notes' },
    undefined,
    { execute: [client.allowInsecureRequests] },
  )
  const [verifier, state] = [client.randomPKCECodeVerifier(), client.randomState()]
  const link = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...parameters,
  })
  const callback = await openPerson(issuer).allow(link)
  const checks = { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true }
  const tokens = await client.authorizationCodeGrant(config, callback, checks)
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
  return {
    subject: tokens.claims()?.sub ?? '',
    accessToken: refreshed.access_token,
    refreshToken: refreshed.refresh_token ?? '',
  }
}
