import { randomBytes } from 'node:crypto'
import type { Context } from '../../src/ports/context.ts'
import { after, toSeconds } from '../../src/base/brand.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import {
  grantIdOf,
  mintAuthorizationId,
  mintClientId,
  type ClientId,
  type GrantId,
  type UserId,
} from '../../src/protocol/ids.ts'
import { NO_SCOPE, type Scope } from '../../src/protocol/token/scope.ts'
import type { SecretHash } from '../../src/protocol/secrets.ts'
import { approve, REDIRECT_URI, SCOPE as SCOPES } from '../codes.ts'
import { FAMILIES_OF_CLIENT, FILLED_GENERATION, hashOf, idOf, userNumber, type Fill } from './fill.ts'

/** As long as the tag of a network. */
const NETWORK_TAG = 'network1'

const SCOPE = SCOPES as Scope
const DAY_MS = 24 * 60 * 60 * 1000

/** One function for each operation on a filled store. Each call works on another row. */
export function growthOperations(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  fill: Fill,
): Readonly<Record<string, () => Promise<void>>> {
  // The number of rotations of each family, from which its live token is derived.
  const generations = new Map<number, number>()
  const picked = openShuffle(fill.rows)
  const clientOf = (index: number) => `gci_${idOf(index - (index % FAMILIES_OF_CLIENT), fill)}` as ClientId

  return {
    async register() {
      const now = clock()
      await store.registerClient({
        id: mintClientId(now, randomBytes),
        chosenId: undefined,
        issuedAt: toSeconds(now),
        source: 'registration',
        rules: DEFAULT_RULES,
        document: undefined,
        initialToken: undefined,
        secretHash: aHash(),
        previousSecret: undefined,
        managementHash: aHash(),
        dedupeKey: undefined,
        metadata: {
          redirect_uris: [REDIRECT_URI],
          token_endpoint_auth_method: 'client_secret_post',
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          scope: SCOPE,
          client_name: 'A client of the bench',
          client_uri: 'https://client.example/',
        },
        usedAt: undefined,
        verifiedAt: undefined,
        disabledAt: undefined,
        identityFrom: undefined,
        approvedScope: NO_SCOPE,
        notBefore: undefined,
        lastUsedAt: undefined,
      })
    },
    async 'refresh, with its reads'() {
      const index = picked()
      const id = idOf(index, fill) as GrantId
      const [grant] = await Promise.all([store.findGrant(id), store.findClient(clientOf(index))])
      const generation = generations.get(index) ?? FILLED_GENERATION
      if (grant?.family?.generation !== generation) throw new Error('A family is not as it was left.')
      const now = clock()
      const outcome = await store.rotateRefreshToken({
        grantId: id,
        generation,
        issuedAt: now,
        presentedHash: (generation === FILLED_GENERATION
          ? hashOf(index)
          : `${generation}.${hashOf(index)}`.slice(0, 43)) as SecretHash,
        successorHash: `${generation + 1}.${hashOf(index)}`.slice(0, 43) as SecretHash,
        now,
        idleExpiresAt: after(now, 30 * DAY_MS),
        key: undefined,
        retryMs: 30_000,
        network: NETWORK_TAG,
        copies: 'network',
        earlierMs: 7 * DAY_MS,
        recordsParting: true,
      })
      if (outcome.kind !== 'rotated') throw new Error(`A refresh token was ${outcome.kind}.`)
      generations.set(index, generation + 1)
    },
    async 'code, from authorize to redeem'() {
      const now = clock()
      const id = mintAuthorizationId(now, randomBytes)
      const index = picked()
      const userId = `gus_${idOf(userNumber(index, fill), fill)}` as UserId
      const clientId = clientOf(index)
      const codeHash = aHash()
      await approve(store, { id, clientId, userId, hash: codeHash, now, expiresAt: after(now, 60_000), isLogin: false })
      const redeemed = await store.redeemCode({
        codeHash,
        now,
        grant: {
          scope: SCOPE,
          ungrantedScope: NO_SCOPE,
          resources: [],
          clientId,
          organizationId: undefined,
          id: grantIdOf(id),
          userId,
          createdAt: now,
          expiresAt: after(now, 90 * DAY_MS),
          revokedAt: undefined,
          family: {
            generation: 0,
            liveHash: aHash(),
            rotatedAt: now,
            idleExpiresAt: after(now, 30 * DAY_MS),
            network: NETWORK_TAG,
            heldFor: undefined,
          },
          openid: undefined,
          stated: undefined,
          redirectHost: 'app.example',
          boundKey: undefined,
          providerId: undefined,
        },
      })
      if (redeemed !== 'redeemed') throw new Error(`A code was ${redeemed}.`)
    },
  }
}

function aHash(): SecretHash {
  return randomBytes(32).toString('base64url') as SecretHash
}

/** A scattered order of the numbers below `count` that contains each of them before any repeats. */
function openShuffle(count: number): () => number {
  // A step that is coprime to the count. It is about the golden section, so that consecutive numbers are far apart.
  let step = Math.floor(count * 0.618_033_988) | 1
  while (divisor(step, count) !== 1) step += 2
  let at = 0
  return () => (at = (at + step) % count)
}

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other)
}
