import type { Configuration, ServerMetadata } from 'openid-client'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { OutboundClient } from '../ports/outbound.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { ED25519_NAMES } from '../protocol/client/keys.ts'
import { openSingleFlight } from '../base/single-flight.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { isForNow, ProviderUnavailable } from './failure.ts'
import { openProviderFetch, type Library } from './provider-fetch.ts'
import { githubMetadata } from './github.ts'

export interface Options {
  readonly outbound: Pick<OutboundClient, 'ask' | 'causedBy'>
  readonly clock: () => EpochMs
  readonly readSecret: (provider: ProviderRecord) => string
}

/** How long the metadata of a provider are used before they are fetched again, and while the provider does not answer. */
const FRESH_MS = 60 * 60 * 1000
const STALE_MS = 24 * 60 * 60 * 1000
/** After a failure, a stale copy is used for this long before the next attempt. */
const PAUSE_MS = 15 * 1000
/** Signatures of ID tokens. `none` and those by a shared secret are never accepted (RFC 8725 §3.1). */
const ALGORITHMS: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  ...ED25519_NAMES,
]

/** The metadata are for all networks, so they wait behind none of them. No network has this name. */
const OWN = 'own'

interface Copy {
  readonly configuration: Configuration
  /** What the configuration was made of. It is made again if an operator changes it. */
  readonly madeOf: string
  readonly fetchedAt: EpochMs
  readonly askAgainAt: EpochMs
}

/** The configurations of openid-client for the providers, which each node has in memory. */
export interface Configurations {
  /** Throws an error of openid-client, or ProviderUnavailable. `renew`: the copy is not used, also if the provider does not answer. */
  readonly of: (provider: ProviderRecord, renew?: 'renew') => Promise<Configuration>
}

export function openConfigurations(library: Library, options: Options): Configurations {
  const copies = new Map<string, Copy>()
  const share = openSingleFlight<Configuration>()

  async function load(provider: ProviderRecord, madeOf: string, renew?: 'renew'): Promise<Configuration> {
    const kept = copies.get(provider.id)
    const usable = kept?.madeOf === madeOf && renew === undefined ? kept : undefined
    const now = options.clock()
    try {
      const configuration = await discover(library, options, provider)
      copies.set(provider.id, { configuration, madeOf, fetchedAt: now, askAgainAt: after(now, FRESH_MS) })
      return configuration
    } catch (cause) {
      if (usable === undefined || !isForNow(cause) || now >= after(usable.fetchedAt, STALE_MS)) throw cause
      copies.set(provider.id, { ...usable, askAgainAt: after(now, PAUSE_MS) })
      return usable.configuration
    }
  }

  return {
    async of(provider, renew) {
      const madeOf = JSON.stringify([provider.settings, provider.encryptedSecret])
      const kept = copies.get(provider.id)
      const key = `${provider.id} ${renew ?? ''} ${madeOf}`
      const isFresh = kept?.madeOf === madeOf && options.clock() < kept.askAgainAt && renew === undefined
      return isFresh
        ? kept.configuration
        : share(key, () => options.outbound.causedBy(OWN, () => load(provider, madeOf, renew)))
    },
  }
}

async function discover(library: Library, options: Options, provider: ProviderRecord): Promise<Configuration> {
  const { settings } = provider
  const customFetch = openProviderFetch(options.outbound, settings)
  const issuer = new URL(settings.issuer)
  const isPlain = issuer.protocol === 'http:' && isLoopbackHost(issuer.hostname)
  const server =
    settings.kind === 'github'
      ? githubMetadata(settings.issuer)
      : await fetchMetadata(library, provider, customFetch, isPlain)
  const secret = options.readSecret(provider)
  const { ClientSecretBasic, ClientSecretPost, Configuration, allowInsecureRequests } = library
  const authenticate = settings.authMethod === 'client_secret_basic' ? ClientSecretBasic : ClientSecretPost
  const configuration = new Configuration(server, settings.clientId, {}, authenticate(secret))
  configuration[library.customFetch] = customFetch
  if (isPlain) allowInsecureRequests(configuration)
  // The ID token comes from the token endpoint over TLS, but its signature is verified all the same (threats.md UP-13).
  if (settings.kind === 'oidc') library.enableNonRepudiationChecks(configuration)
  return configuration
}

/** OpenID Connect Discovery §4. */
async function fetchMetadata(
  library: Library,
  { settings: { issuer, clientId } }: ProviderRecord,
  customFetch: ReturnType<typeof openProviderFetch>,
  isPlain: boolean,
): Promise<ServerMetadata> {
  const options = {
    [library.customFetch]: customFetch,
    ...(isPlain ? { execute: [library.allowInsecureRequests] } : {}),
  }
  const discovered = await library.discovery(new URL(issuer), clientId, undefined, library.None(), options)
  const metadata: ServerMetadata = { ...discovered.serverMetadata() }
  if (metadata.issuer !== issuer) {
    const name = JSON.stringify(metadata.issuer).slice(0, 200)
    throw unusable(
      `The provider calls itself ${name}. The issuer must be that, byte for byte. It never changes, because the identities of users belong to it, and no user can have signed in with this one: delete the provider, and create it with that issuer.`,
    )
  }
  const { authorization_endpoint: address = '' } = metadata
  if (!address.startsWith('https://') && !(isPlain && address.startsWith('http://'))) {
    throw unusable('The authorization endpoint of the provider does not use https.')
  }
  const { id_token_signing_alg_values_supported: offered = ['RS256'] } = metadata
  const accepted = offered.flatMap((one) => (ED25519_NAMES.includes(one) ? ED25519_NAMES : one))
  return { ...metadata, id_token_signing_alg_values_supported: accepted.filter((one) => ALGORITHMS.includes(one)) }
}

function unusable(message: string): ProviderUnavailable {
  return new ProviderUnavailable({ kind: 'unacceptable', reason: 'malformed' }, message)
}
