import type { Configuration, CustomFetch, ExportedJWKSCache, ServerMetadata } from 'openid-client'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { OutboundClient } from '../ports/outbound.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { ED25519_NAMES } from '../protocol/client/keys.ts'
import { isObject, parseJson } from '../base/json.ts'
import { openSingleFlight } from '../base/single-flight.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { isForNow, isUnknownKey, ProviderUnavailable } from './failure.ts'
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

/** What openid-client has to know of a provider. */
interface Discovered {
  readonly server: ServerMetadata
  readonly send: CustomFetch
  readonly make: (send: CustomFetch) => Configuration
}

interface Copy extends Discovered {
  readonly configuration: Configuration
  readonly keys: Keys
  /** What the configuration was made of. It is made again if an operator changes it. */
  readonly madeOf: string
  readonly fetchedAt: EpochMs
  readonly askAgainAt: EpochMs
}

/** The keys of a provider, as openid-client has fetched them. */
interface Keys {
  cache: ExportedJWKSCache | undefined
  /** When they were last fetched because of an unknown key. */
  renewedAt: EpochMs | undefined
}

/** The configurations of openid-client for the providers, which each node has in memory. */
export interface Configurations {
  /** Throws an error of openid-client, or ProviderUnavailable. `renew`: the copy is not used, also if the provider does not answer. */
  readonly of: (provider: ProviderRecord, renew?: 'renew') => Promise<Configuration>
  /**
   * Does what redeems a code and verifies an ID token. If the provider signed with a key that is not known, the keys are fetched once more,
   * and the work is done again with the same answer of the token endpoint (OpenID Connect Core §10.1.1). All sign-ins at the provider share
   * that request, and none is sent within PAUSE_MS of it.
   */
  readonly redeeming: <Done>(
    provider: ProviderRecord,
    work: (configuration: Configuration) => Promise<Done>,
  ) => Promise<Done>
}

export function openConfigurations(library: Library, options: Options): Configurations {
  const copies = new Map<string, Copy>()
  const share = openSingleFlight<Copy>()
  const shareKeys = openSingleFlight<ExportedJWKSCache | undefined>()

  async function load(provider: ProviderRecord, madeOf: string, renew?: 'renew'): Promise<Copy> {
    const kept = copies.get(provider.id)
    const usable = kept?.madeOf === madeOf && renew === undefined ? kept : undefined
    const now = options.clock()
    try {
      const discovered = await discover(library, options, provider)
      const configuration = discovered.make(discovered.send)
      const keys = { cache: undefined, renewedAt: undefined }
      const times = { fetchedAt: now, askAgainAt: after(now, FRESH_MS) }
      const copy: Copy = { ...discovered, configuration, keys, madeOf, ...times }
      copies.set(provider.id, copy)
      return copy
    } catch (cause) {
      if (usable === undefined || !isForNow(cause) || now >= after(usable.fetchedAt, STALE_MS)) throw cause
      const copy: Copy = { ...usable, askAgainAt: after(now, PAUSE_MS) }
      copies.set(provider.id, copy)
      return copy
    }
  }

  async function copyOf(provider: ProviderRecord, renew?: 'renew'): Promise<Copy> {
    const madeOf = JSON.stringify([provider.settings, provider.encryptedSecret])
    const kept = copies.get(provider.id)
    const key = `${provider.id} ${renew ?? ''} ${madeOf}`
    const isFresh = kept?.madeOf === madeOf && options.clock() < kept.askAgainAt && renew === undefined
    return isFresh ? kept : share(key, () => options.outbound.causedBy(OWN, () => load(provider, madeOf, renew)))
  }

  /** undefined: the keys were fetched because of an unknown key a moment ago, or there are none. */
  async function renewKeys({ keys, server, send }: Copy): Promise<ExportedJWKSCache | undefined> {
    const now = options.clock()
    const isPause = keys.renewedAt !== undefined && now < after(keys.renewedAt, PAUSE_MS)
    if (server.jwks_uri === undefined || isPause) return undefined
    keys.renewedAt = now
    const question = {
      method: 'GET',
      headers: { accept: 'application/json' },
      body: undefined,
      redirect: 'manual',
    } as const
    const answer = await options.outbound.causedBy(OWN, () => send(server.jwks_uri ?? '', question))
    const jwks = parseJson(await answer.text())
    if (answer.status !== 200 || !isObject(jwks)) return undefined
    // openid-client fetches them itself if this is no set of keys.
    keys.cache = { jwks: jwks as unknown as ExportedJWKSCache['jwks'], uat: Math.floor(now / 1000) }
    return keys.cache
  }

  return {
    of: async (provider, renew) => (await copyOf(provider, renew)).configuration,
    async redeeming(provider, work) {
      const copy = await copyOf(provider)
      const { keys, make } = copy
      const send = answerPostOnce(copy.send)
      const attempt = async (configuration: Configuration) => {
        try {
          return await work(configuration)
        } finally {
          const fetched = library.getJwksCache(configuration)
          if (fetched !== undefined && fetched.uat > (keys.cache?.uat ?? 0)) keys.cache = fetched
        }
      }
      const withKeys = (known: ExportedJWKSCache | undefined): Configuration => {
        const configuration = make(send)
        if (known !== undefined) library.setJwksCache(configuration, known)
        return configuration
      }
      const before = keys.cache
      try {
        return await attempt(withKeys(before))
      } catch (cause) {
        if (!isUnknownKey(cause)) throw cause
        // Another sign-in may have renewed them meanwhile.
        const isRenewed = before !== undefined && keys.cache !== before
        const renewed = isRenewed ? keys.cache : await shareKeys(copy.madeOf, () => renewKeys(copy))
        if (renewed === undefined) throw cause
        return attempt(withKeys(renewed))
      }
    },
  }
}

/** A code is redeemed once, so a second attempt gets the answer of the first. */
function answerPostOnce(send: CustomFetch): CustomFetch {
  let answered: Response | undefined
  return async (url, question) => {
    if (question.method !== 'POST') return send(url, question)
    answered ??= await send(url, question)
    return answered.clone()
  }
}

async function discover(library: Library, options: Options, provider: ProviderRecord): Promise<Discovered> {
  const { settings } = provider
  const send = openProviderFetch(options.outbound, settings)
  const issuer = new URL(settings.issuer)
  const isPlain = issuer.protocol === 'http:' && isLoopbackHost(issuer.hostname)
  const server =
    settings.kind === 'github' ? githubMetadata(settings.issuer) : await fetchMetadata(library, provider, send, isPlain)
  const secret = options.readSecret(provider)
  const { ClientSecretBasic, ClientSecretPost, Configuration, allowInsecureRequests } = library
  const authenticate = settings.authMethod === 'client_secret_basic' ? ClientSecretBasic : ClientSecretPost
  const make = (customFetch: CustomFetch): Configuration => {
    const configuration = new Configuration(server, settings.clientId, {}, authenticate(secret))
    configuration[library.customFetch] = customFetch
    if (isPlain) allowInsecureRequests(configuration)
    // The ID token comes from the token endpoint over TLS, but its signature is verified all the same (threats.md UP-13).
    if (settings.kind === 'oidc') library.enableNonRepudiationChecks(configuration)
    return configuration
  }
  return { server, send, make }
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
