import type { Configuration } from 'openid-client'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type {
  ProviderSignIn,
  UpstreamAnswer,
  UpstreamBinding,
  UpstreamFailure,
  UpstreamGroups,
  ProviderSignInObserver,
  UpstreamReason,
  UpstreamRequest,
} from '../ports/provider-sign-in.ts'
import type { SignInDemand, StatedTime } from '../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../base/brand.ts'
import { sameText } from '../protocol/secrets.ts'
import { mergeClaims, PERSON_CLAIMS, type ProviderClaims } from '../protocol/sign-in/provider-identity.ts'
import { openAvailability } from './availability.ts'
import { authorizationParameters } from './authorization-request.ts'
import { openConfigurations, type Configurations, type Options } from './configurations.ts'
import { failure, failureOf, ProviderUnavailable } from './failure.ts'
import { readGithubClaims } from './github.ts'
import { probeProvider, tryProvider, type Probing } from './probe.ts'
import { findGroups, type Redeemed, saysGroups } from './groups.ts'
import { openProviderFetch, type Library } from './provider-fetch.ts'
import { openProviderKeys, type ProviderKeyOptions } from './provider-keys.ts'

export interface ProviderSignInOptions extends Omit<Options, 'readSecret'>, Pick<ProviderKeyOptions, 'openSignatures'> {
  readonly encrypt: (id: string, secret: string) => string
  /** @throws Error if the text was encrypted under another key */
  readonly decrypt: (id: string, encrypted: string) => string
  readonly observe: ProviderSignInObserver
}

/** How far the clock of a provider may be ahead. */
const CLOCK_TOLERANCE_MS = 60_000

/** Seconds of all requests of one step together. A single request has the limit of the outbound client. */
const STEP_SECONDS = 10

/**
 * Seconds after the begin of the step in which the groups are waited for: less than the step has, because a sign-in goes on without an answer.
 */
const GROUPS_SECONDS = 8

/** A try that ended so says nothing about the provider. */
const NOT_TRIED: readonly UpstreamReason[] = ['busy', 'off', 'secret-missing']
/** An authorization code (RFC 6749 appendix A.11). Another one cannot be of the provider. Codes of Entra have up to 2,000 characters. */
const CODE = /^[\x20-\x7e]{1,4096}$/
/** Whose requests those are that no browser causes. */
const OWN_NETWORK = 'own'

/** Names the secret of a provider in its encryption, so that it cannot be moved to another row. */
function nameOf(id: string): string {
  return `provider:${id}`
}

/** Opens the sign-in at providers. openid-client is loaded at the first sign-in: most servers never need it. */
export function openProviderRequests(options: ProviderSignInOptions): ProviderSignIn {
  const { encrypt, decrypt, observe } = options
  const availability = openAvailability(options.clock)
  const keys = openProviderKeys(options)
  const readSecret = (provider: ProviderRecord): string => decrypt(nameOf(provider.id), provider.encryptedSecret ?? '')
  let loading: Promise<{ readonly library: Library; readonly configurations: Configurations }> | undefined
  const load = () =>
    (loading ??= import('openid-client').then((library) => ({
      library,
      configurations: openConfigurations(library, { ...options, readSecret }),
    })))

  /** One step of a sign-in. */
  async function step<Done extends { readonly kind: string }>(
    provider: ProviderRecord,
    network: string,
    work: (library: Library, configuration: Configuration, configurations: Configurations) => Promise<Done>,
  ): Promise<Done | UpstreamFailure> {
    if (provider.encryptedSecret === undefined) return failure('secret-missing', 'The secret has to be set again.')
    try {
      const { library, configurations } = await load()
      const steps = async (): Promise<Done> => work(library, await configurations.of(provider), configurations)
      return await within(AbortSignal.timeout(STEP_SECONDS * 1000), () => options.outbound.causedBy(network, steps))
    } catch (cause) {
      return failureOf(cause)
    }
  }

  async function probingOf(provider: ProviderRecord, redirectUri: string): Promise<Probing> {
    const { library, configurations } = await load()
    const configure = () => configurations.of(provider, 'renew')
    return { library, configure, ask: openProviderFetch(options.outbound, provider.settings), redirectUri }
  }

  function noteFailure({ id }: ProviderRecord, { reason }: UpstreamFailure): void {
    if (reason === 'unreachable') availability.noteFailure(id)
    observe(id, reason)
  }

  return {
    async begin(provider, request) {
      // Otherwise each person would be sent away only to find that out.
      if (availability.isDown(provider.id)) return failure('unreachable', 'The provider does not answer.')
      const begun = await step(provider, request.network, async (library, configuration) => ({
        kind: 'ready' as const,
        location: await authorizationAddress(library, configuration, provider, request, options.clock()),
      }))
      if (begun.kind === 'failed') noteFailure(provider, begun)
      return begun
    },
    async finish(provider, binding, query) {
      const isCode = query.getAll('code').every((code) => CODE.test(code))
      const finished = !isCode
        ? failure('invalid', 'The code is not acceptable.')
        : await step(provider, binding.network, (library, configuration, configurations) => {
            const redemption = { binding, query, now: options.clock() }
            const work = (own: Configuration) => redeem(library, own, provider, redemption)
            const redeemed = configurations.redeeming(provider, work)
            return answerOf(redeemed, (found, signal) => findGroups(library, configuration, provider, found, signal))
          })
      if (finished.kind === 'failed') {
        noteFailure(provider, finished)
        return finished
      }
      availability.noteSignIn(provider.id)
      observe(provider.id, finished.kind)
      return finished
    },
    verify(provider, { network, ...signed }) {
      return step(provider, network, async (_library, configuration) => {
        const { jwks_uri: uri } = configuration.serverMetadata()
        if (uri === undefined) return failure('invalid', 'The metadata have no jwks_uri.')
        const outcome = await keys.verify(provider, uri, signed)
        if (outcome.kind === 'ambiguous') return { kind: 'wrong' }
        if (outcome.kind === 'limited') return failure('busy', outcome.reason)
        return outcome.kind === 'keys-unavailable' ? failure('unreachable', outcome.reason) : outcome
      })
    },
    isDown: ({ id }) => availability.isDown(id),
    suspects: () => availability.suspects() as readonly ProviderRecord['id'][],
    async tryAgain(provider, redirectUri) {
      if (!availability.mayTry(provider.id)) return
      const tried = await step(provider, OWN_NETWORK, async (_library, configuration) =>
        tryProvider(configuration, provider, await probingOf(provider, redirectUri)),
      )
      if (tried.kind === 'failed' && NOT_TRIED.includes(tried.reason)) return
      availability.noteTry(provider.id, tried.kind === 'answered' || tried.reason !== 'unreachable')
    },
    probe: async (provider, redirectUri) => probeProvider(provider, await probingOf(provider, redirectUri)),
    encryptSecret: (id, secret) => encrypt(nameOf(id), secret),
    hasSecret(provider, secret) {
      try {
        return sameText(readSecret(provider), secret)
      } catch {
        // The provider has no secret, or one under another key: the given one replaces it.
        return false
      }
    },
  }
}

/** Fails if the work takes longer. What it waits for ends by limits of its own. */
function within<Done>(signal: AbortSignal, work: () => Promise<Done>): Promise<Done> {
  const { promise, reject } = Promise.withResolvers<never>()
  // Each request has a limit of its own, after which the provider counts as not answering. Several requests may have waited for others.
  const end = (): void =>
    reject(new ProviderUnavailable({ kind: 'limited', reason: 'busy', retryAfterSeconds: STEP_SECONDS }))
  signal.addEventListener('abort', end, { once: true })
  return Promise.race([work(), promise])
}

/** What a provider says about a person and the groups of the person, with the time that is left for them. */
async function answerOf(
  redeeming: Promise<Redeemed & Pick<UpstreamAnswer, 'time'>>,
  findGroupsOf: (redeemed: Redeemed, signal: AbortSignal) => Promise<UpstreamGroups>,
): Promise<UpstreamAnswer & { readonly kind: 'authenticated' }> {
  const signal = AbortSignal.timeout(GROUPS_SECONDS * 1000)
  const { time, ...redeemed } = await redeeming
  const { claims, userinfo } = redeemed
  const person = userinfo === undefined ? claims : mergeClaims(claims, userinfo)
  const groups = await orUnknown(signal, () => findGroupsOf(redeemed, signal))
  return { kind: 'authenticated', claims: person, time, groups }
}

/** The groups are unknown if the API that has them does not answer: the person is still the one whom the provider authenticated. */
async function orUnknown(signal: AbortSignal, ask: () => Promise<UpstreamGroups>): Promise<UpstreamGroups> {
  try {
    return await within(signal, ask)
  } catch {
    return { kind: 'unknown' }
  }
}

async function authorizationAddress(
  library: Library,
  configuration: Configuration,
  { settings }: ProviderRecord,
  request: UpstreamRequest,
  now: EpochMs,
): Promise<string> {
  const { kind } = settings
  const { demand, loginHint } = request
  const address = library.buildAuthorizationUrl(configuration, {
    ...(await authorizationParameters(library, settings, request)),
    ...(demand !== undefined && kind === 'oidc' ? demandParameters(demand, now) : {}),
    ...(loginHint === undefined ? {} : { [kind === 'oidc' ? 'login_hint' : 'login']: loginHint }),
  })
  return address.href
}

/** OpenID Connect Core §3.1.2.1: with `max_age` the provider must say `auth_time`, which `prompt` does not require. */
function demandParameters({ after, isAfresh }: SignInDemand, now: EpochMs): Readonly<Record<string, string>> {
  if (isAfresh) return { prompt: 'login', max_age: '0' }
  return { max_age: String(Math.floor((now - after) / 1000)) }
}

/**
 * Redeems the code and reads the claims. RFC 6749 §4.1.2 to §4.1.4, RFC 9207, OpenID Connect Core §3.1.3.7.
 * The userinfo endpoint is asked only if the ID token lacks a claim of PERSON_CLAIMS, or the groups; its `sub` must be that of the ID token.
 */
async function redeem(
  library: Library,
  configuration: Configuration,
  { settings }: ProviderRecord,
  {
    binding,
    query,
    now,
  }: { readonly binding: UpstreamBinding; readonly query: URLSearchParams; readonly now: EpochMs },
): Promise<Redeemed & Pick<UpstreamAnswer, 'time'>> {
  const { kind, clientId } = settings
  const { state, codeVerifier, nonce, redirectUri } = binding
  const answered = new URL(redirectUri)
  answered.search = query.toString()
  const tokens = await library.authorizationCodeGrant(configuration, answered, {
    expectedState: state,
    pkceCodeVerifier: codeVerifier,
    ...(kind === 'oidc' ? { expectedNonce: nonce, idTokenExpected: true } : {}),
  })
  const { access_token: accessToken } = tokens
  // GitHub says no time, and has no parameter by which it would authenticate a person who is signed in there.
  if (kind === 'github') {
    const claims = await readGithubClaims(library, configuration, accessToken)
    return { claims, userinfo: undefined, accessToken, time: { kind: 'now' } }
  }
  const claims: ProviderClaims & { readonly sub?: string } = tokens.claims() ?? {}
  const fault = findFault(claims, clientId, now)
  if (fault !== undefined) throw new ProviderUnavailable({ kind: 'unacceptable', reason: 'malformed' }, fault)
  const time = readAuthTime(claims)
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata()
  const isComplete = PERSON_CLAIMS.every((claim) => claims[claim] !== undefined) && saysGroups(settings, claims)
  const isAsked = !isComplete && endpoint !== undefined && claims.sub !== undefined
  const userinfo = isAsked ? await library.fetchUserInfo(configuration, accessToken, claims.sub) : undefined
  return { claims, userinfo, accessToken, time }
}

/** What the library accepts in an ID token, and this server does not. OpenID Connect Core §3.1.3.7, numbers 5 and 10. */
function findFault({ azp, iat }: ProviderClaims, clientId: string, now: EpochMs): string | undefined {
  if (azp !== undefined && azp !== clientId) return 'The ID token was issued to another client (azp).'
  const isEarly = typeof iat === 'number' && iat * 1000 > now + CLOCK_TOLERANCE_MS
  return isEarly ? 'The ID token was issued in the future (iat).' : undefined
}

/** The `auth_time` of an ID token, in seconds (OpenID Connect Core §2). Most providers send it only where it is asked for. */
function readAuthTime({ auth_time: seconds }: ProviderClaims): StatedTime {
  if (typeof seconds !== 'number') return { kind: 'unsaid' }
  return { kind: 'said', at: Math.floor(seconds * 1000) as EpochMs }
}
