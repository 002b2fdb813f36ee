import type { Configuration } from 'openid-client'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { ProviderFinding, UpstreamFailure } from '../ports/provider-sign-in.ts'
import type { ProviderSettings } from '../protocol/sign-in/provider.ts'
import { authorizationParameters } from './authorization-request.ts'
import { failureOf, isServerError } from './failure.ts'
import type { Library, openProviderFetch } from './provider-fetch.ts'

/** What a probe needs of the provider's configuration. */
export interface Probing {
  readonly library: Library
  /** Fetches the metadata of the provider. */
  readonly configure: () => Promise<Configuration>
  readonly ask: ReturnType<typeof openProviderFetch>
  readonly redirectUri: string
}

/** Error codes that refuse the client. RFC 6749 §5.2; Keycloak sends the second one for a wrong secret, and GitHub the third. */
const REFUSED_CLIENT: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
])
/** Error codes that refuse the code of a client that is authenticated. RFC 6749 §5.2; GitHub sends the second one. */
const REFUSED_CODE: ReadonlySet<string> = new Set(['invalid_grant', 'bad_verification_code'])
/** The error code with which Google and GitHub refuse a redirect URI at the token endpoint. */
const REFUSED_REDIRECT = 'redirect_uri_mismatch'
/** Error codes that refuse an authorization request. RFC 9126 §2.3, RFC 6749 §4.1.2.1. */
const REFUSED_REQUEST: ReadonlySet<string> = new Set(['invalid_request', 'invalid_redirect_uri', 'invalid_scope'])

/**
 * Checks a provider as a sign-in uses it. The metadata and the keys are fetched. The secret is checked with a code that is made up. The
 * redirect URI and the scope are checked only if the provider accepts pushed authorization requests (RFC 9126): others show a refusal
 * to the user alone. What a provider does not let be known has no finding.
 */
export async function probeProvider(
  { settings, encryptedSecret }: ProviderRecord,
  probing: Probing,
): Promise<readonly ProviderFinding[]> {
  if (encryptedSecret === undefined) return [refused('secret', 'The secret has to be set again.')]
  let configuration: Configuration
  try {
    configuration = await probing.configure()
  } catch (cause) {
    return [refused('discovery', failureOf(cause).detail)]
  }
  const { authorization_endpoint: address, jwks_uri: jwksUri } = configuration.serverMetadata()
  const isOpenid = settings.kind === 'oidc'
  const known = isOpenid ? 'The metadata of the provider can be used.' : `Users sign in at ${address}.`
  const keys = isOpenid ? await probeKeys(jwksUri, probing) : undefined
  const secret = await probeSecret(configuration, probing)
  // Keycloak refuses the pushed request of a client that it does not know as it refuses a redirect URI.
  const request = secret?.isOk === false ? undefined : await probeRequest(configuration, settings, probing)
  return [accepted('discovery', known), keys, secret, request].filter((finding) => finding !== undefined)
}

function accepted(check: ProviderFinding['check'], detail: string): ProviderFinding {
  return { check, isOk: true, detail }
}

function refused(check: ProviderFinding['check'], detail: string): ProviderFinding {
  return { check, isOk: false, detail }
}

async function probeKeys(jwksUri: string | undefined, { ask }: Probing): Promise<ProviderFinding> {
  if (jwksUri === undefined) return refused('keys', 'The metadata have no jwks_uri.')
  try {
    const answer = await ask(jwksUri, {
      method: 'GET',
      headers: { accept: 'application/json' },
      body: undefined,
      redirect: 'manual',
    })
    const { keys } = (await answer.json()) as { readonly keys?: unknown }
    if (!Array.isArray(keys) || keys.length === 0) return refused('keys', 'There are no keys at jwks_uri.')
    return accepted('keys', `The provider has ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}.`)
  } catch (cause) {
    return refused('keys', failureOf(cause).detail)
  }
}

/**
 * Looks whether a provider answers, by redeeming a code that is made up. A provider that fails for each unknown code answers too, if its
 * metadata and its keys can be fetched: otherwise strangers, who send it such codes, would switch it off (threats.md UP-30). GitHub has
 * neither, and refuses an unknown code.
 *
 * @throws ProviderUnavailable, or an error of openid-client
 */
export async function tryProvider(
  configuration: Configuration,
  { settings }: Pick<ProviderRecord, 'settings'>,
  probing: Probing,
): Promise<{ readonly kind: 'answered' }> {
  try {
    await redeemMadeUpCode(configuration, probing)
  } catch (cause) {
    if (settings.kind === 'github' || !isServerError(cause) || !(await hasKeys(probing))) throw cause
  }
  return { kind: 'answered' }
}

/** Whether the metadata and the keys of the provider can be fetched. */
async function hasKeys(probing: Probing): Promise<boolean> {
  try {
    const { jwks_uri: jwksUri } = (await probing.configure()).serverMetadata()
    return (await probeKeys(jwksUri, probing)).isOk
  } catch {
    return false
  }
}

async function probeSecret(configuration: Configuration, probing: Probing): Promise<ProviderFinding | undefined> {
  const failed = await failureIn(() => redeemMadeUpCode(configuration, probing))
  if (failed === undefined) return undefined
  const { reason, detail } = failed
  if (reason !== 'rejected') return refused('secret', `The token endpoint of the provider cannot be used: ${detail}`)
  if (REFUSED_CLIENT.has(detail))
    return refused('secret', `The provider refuses the client_id or the secret (${detail}).`)
  if (detail === REFUSED_REDIRECT) return refused('request', `The provider refuses the redirect URI (${detail}).`)
  return REFUSED_CODE.has(detail) ? accepted('secret', 'The provider accepts the client_id and the secret.') : undefined
}

/** Redeems a code that is made up. The provider answers by refusing it. */
async function redeemMadeUpCode(configuration: Configuration, { library, redirectUri }: Probing): Promise<void> {
  await library.genericGrantRequest(configuration, 'authorization_code', {
    code: library.randomState(),
    redirect_uri: redirectUri,
    code_verifier: library.randomPKCECodeVerifier(),
  })
}

async function probeRequest(
  configuration: Configuration,
  settings: ProviderSettings,
  { library, redirectUri }: Probing,
): Promise<ProviderFinding | undefined> {
  if (configuration.serverMetadata().pushed_authorization_request_endpoint === undefined) return undefined
  const parameters = await authorizationParameters(library, settings, {
    state: library.randomState(),
    codeVerifier: library.randomPKCECodeVerifier(),
    nonce: library.randomNonce(),
    redirectUri,
  })
  const failed = await failureIn(() => library.buildAuthorizationUrlWithPAR(configuration, { ...parameters }))
  if (failed === undefined) return accepted('request', 'The provider accepts the redirect URI and the scope.')
  // The secret has a finding of its own, and sign-ins do not use this endpoint.
  return failed.reason === 'rejected' && REFUSED_REQUEST.has(failed.detail)
    ? refused('request', `The provider refuses the redirect URI or the scope (${failed.detail}).`)
    : undefined
}

async function failureIn(request: () => Promise<unknown>): Promise<UpstreamFailure | undefined> {
  try {
    await request()
    return undefined
  } catch (cause) {
    return failureOf(cause)
  }
}
