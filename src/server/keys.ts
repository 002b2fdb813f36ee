import { keepKeys } from '../admin/key/key.ts'
import type { Config } from '../config/config.ts'
import { openClientSignatures } from '../keys/client-signatures.ts'
import { CLIENT_KEY_TIMES, openFetchedKeys } from '../keys/fetched-keys.ts'
import { openBurstSigner } from '../keys/burst-signer.ts'
import { openKeyRing, type KeySet } from '../keys/key-ring.ts'
import { openProofVerifier } from '../keys/proof-verifier.ts'
import { createSigningKey } from '../keys/signing-key.ts'
import { openSigningThread } from '../keys/signing-thread.ts'
import type { Log } from './log.ts'
import type { Context } from '../ports/context.ts'
import type { KeyRecord, SigningAlgorithm } from '../ports/records/key.ts'
import type { Store } from '../ports/store.ts'
import type { SigningKeys } from '../ports/tokens.ts'
import type { EpochMs } from '../base/brand.ts'
import { earlyIdTokenAlgorithms, offeredIdTokenAlgorithms, type IdTokenAlgorithm } from '../protocol/openid/id-token.ts'
import { linesOf } from '../protocol/key-rotation.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { atMost } from '../store/at-most.ts'
import { DOCUMENT_WAIT_MS } from '../store/cached-value.ts'
import type { TimelyWaits } from '../store/timely-waits.ts'
import { openSingleFlight } from '../base/single-flight.ts'

const ROTATION_INTERVAL_MS = 60_000
const PAUSE_MS = 5000

/**
 * Opens the signer and the reader of access tokens over the keys in the store, and creates the first key; and the verifier of
 * what clients signed with theirs.
 */
export async function openKeys(
  store: Store,
  { encryptionKey }: Secrets,
  { issuer, settings: { grantTypes, signingAlgorithm } }: Config,
  {
    clock,
    databaseNow,
    logger,
    outbound,
    random,
    within,
  }: Pick<Context, 'clock' | 'outbound' | 'random'> &
    Pick<Context['clockCheck'], 'databaseNow'> &
    Pick<TimelyWaits, 'within'> & { readonly logger: Log },
): Promise<Pick<Context, 'tokens' | 'tokenReader' | 'keys' | 'clientSignatures' | 'proofs'>> {
  const create: SigningKeys['create'] = (plan) => createSigningKey(plan, random, encryptionKey)
  const [known, before] = await Promise.all([store.listKeys(), store.findServerAlgorithm()])
  // The database's time, because the clock of the first node may differ.
  const now = (await databaseNow()) ?? clock()
  const records = known.some(({ purpose }) => purpose === 'access')
    ? known
    : [
        await store.addFirstKey(
          await create({ purpose: 'access', algorithm: signingAlgorithm, createdAt: now, activeFrom: now }),
        ),
      ]
  const onFailure = (cause: unknown): void => logger.error({ event: 'key.read-failed', err: cause })
  const options = { store, algorithm: signingAlgorithm, clock, encryptionKey, issuer, onFailure }
  const ring = openKeyRing({ records, before }, options)
  const current = async (): Promise<KeySet> => ring.known() ?? within(ring.read)
  const introductions = openSingleFlight<void>()
  /** A clock that differs does no harm: a key without an older one signs at any time. */
  async function introduce(algorithm: SigningAlgorithm): Promise<void> {
    const { idTokens } = await ring.read()
    if (idTokens.has(algorithm)) return
    const createdAt = clock()
    await store.addFirstKey(await create({ purpose: 'id', algorithm, createdAt, activeFrom: createdAt }))
    await ring.read()
  }
  const early = earlyIdTokenAlgorithms(grantTypes)
  const missing = ({ idTokens }: KeySet) => early.filter((algorithm) => !idTokens.has(algorithm))
  /** For a verifier, old keys are better than none, and a store that does not answer is not waited for. */
  async function lately(): Promise<{ readonly copy: KeySet; readonly isLate: boolean }> {
    let isLate = false
    const copy =
      ring.known() ??
      (await atMost(DOCUMENT_WAIT_MS, ring.read(), () => {
        isLate = true
        return ring.last()
      }).catch(ring.last))
    return { copy, isLate }
  }
  let failedAt: number | undefined
  /** After a failure the keys are not created again for each request, because an RSA key costs 50 ms. */
  async function complete(lacking: KeySet): Promise<KeySet> {
    if (failedAt !== undefined && Math.abs(clock() - failedAt) < PAUSE_MS) return lacking
    try {
      await Promise.all(missing(lacking).map((algorithm) => introductions(algorithm, () => introduce(algorithm))))
      failedAt = undefined
    } catch (cause) {
      failedAt = clock()
      onFailure(cause)
    }
    return ring.last()
  }
  return {
    clientSignatures: openClientSignatures(openFetchedKeys(outbound, clock, CLIENT_KEY_TIMES)),
    proofs: openProofVerifier(),
    tokens: openBurstSigner(ring, openSigningThread()),
    tokenReader: {
      read: async (token) => (await current()).verifier.read(token),
      readIdToken: async (token) => (await current()).idTokenVerifier.read(token),
    },
    keys: {
      create,
      async idTokenAlgorithms() {
        const { idTokens } = (await lately()).copy
        const isChoosable = (one: IdTokenAlgorithm): boolean => early.includes(one) || idTokens.has(one)
        return offeredIdTokenAlgorithms(grantTypes).filter(isChoosable)
      },
      async ensureIdTokenKey(algorithm) {
        const { idTokens } = await current()
        if (!idTokens.has(algorithm)) await within(() => introductions(algorithm, () => introduce(algorithm)))
      },
      async published() {
        const { copy, isLate } = await lately()
        const isDone = missing(copy).length === 0 || isLate || ring.isAway()
        const last = isDone ? copy : await within(() => complete(copy)).catch(ring.last)
        return { keys: last.published, isComplete: missing(last).length === 0 }
      },
    },
  }
}

/** Adds and removes signing keys at intervals. Returns the function that stops this. */
export function startKeepingKeys(context: Context, logger: Log): () => void {
  const timer = setInterval(() => {
    const keeping = context.keys.published().then(() => keepKeys(context))
    keeping.then(
      ({ made, withdrawn }) => {
        if (made !== undefined) logger.info({ event: 'key.added', key: made.id, active_from: made.activeFrom })
        for (const id of withdrawn) logger.info({ event: 'key.removed', key: id })
      },
      (cause: unknown) => logger.error({ event: 'key.rotation-failed', err: cause }),
    )
  }, ROTATION_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** Makes a signing key for each purpose and algorithm of the stored ones, which these keys are to replace, and for the server's own. */
export async function makeNewKeys(
  { store, random, secrets }: { readonly store: Pick<Store, 'listKeys'> } & Pick<Context, 'random' | 'secrets'>,
  { settings }: Pick<Config, 'settings'>,
  now: EpochMs,
): Promise<readonly KeyRecord[]> {
  const own = { purpose: 'access', algorithm: settings.signingAlgorithm } as const
  const lines = linesOf([own, ...(await store.listKeys())])
  const plans = lines.map(([{ purpose, algorithm }]) => ({ purpose, algorithm, createdAt: now, activeFrom: now }))
  return Promise.all(plans.map((plan) => createSigningKey(plan, random, secrets.encryptionKey)))
}
