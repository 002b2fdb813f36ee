import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { SERVER_TOKENS } from '../src/admin/api/api.ts'
import type { Resource } from '../src/protocol/token/resource.ts'
import { createApi } from '../src/admin/api/api.ts'
import { createUser } from '../src/admin/user/user.ts'
import type { Context } from '../src/ports/context.ts'
import type { AuthorizationRecord } from '../src/ports/records/authorization.ts'
import { after, type EpochMs } from '../src/base/brand.ts'
import {
  mintAuthorizationId,
  type AuthorizationId,
  type ClientId,
  type SessionId,
  type UserId,
} from '../src/protocol/ids.ts'
import type { CodeChallenge } from '../src/protocol/authorization/pkce.ts'
import type { RedirectUri } from '../src/protocol/uri/redirect-uri.ts'
import { NO_SCOPE, type Scope } from '../src/protocol/token/scope.ts'
import type { SecretHash } from '../src/protocol/secrets.ts'
import { openStoreOf } from '../tools/runtime.ts'

/** Creates authorization codes in bulk through the store. Through the pages this would take longer than the measurement. */
export interface CodeMint {
  /** `login`: the code gives an ID token, too. */
  readonly make: (clientId: string, count: number, kind?: 'login') => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export const REDIRECT_URI = 'http://127.0.0.1:33418/callback'
export const SCOPE = 'mcp:tools mcp:resources'
/** RFC 7636 §4.1. All codes have the same verifier, because the cost of checking does not depend on it. */
export const VERIFIER = randomBytes(32).toString('base64url')
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url') as CodeChallenge
const BATCH = 256
/** An API with opaque access tokens, which are in the store. */
export const OPAQUE_RESOURCE = 'https://opaque.example'
/** After this time the running server knows APIs that another process declared. */
const CATALOGUE_MS = 1500

/** Opens the store of the running server with the server's settings. */
export async function openCodeMint(settings: Readonly<Record<string, string>>): Promise<CodeMint> {
  const { context, close } = await openStoreOf(settings)
  const { clock, random, secrets, store } = context
  const account = { email: 'ada@bench.test', password: randomBytes(12).toString('base64url'), name: 'Ada' }
  const { id: userId } = await createUser(context, account)
  await declareApis(context)

  async function make(clientId: ClientId, kind: 'login' | undefined): Promise<string> {
    const now = clock()
    const id = mintAuthorizationId(now, random)
    const { hash, token } = secrets.mint('authorization-code', id, random)
    const expiresAt = after(now, context.settings.lifetimes.code * 1000)
    await approve(store, { id, clientId, userId, hash, now, expiresAt, isLogin: kind === 'login' })
    return token
  }

  return {
    async make(clientId, count, kind) {
      const codes: string[] = []
      while (codes.length < count) {
        const size = Math.min(BATCH, count - codes.length)
        codes.push(...(await Promise.all(Array.from({ length: size }, () => make(clientId as ClientId, kind)))))
      }
      return codes
    },
    close,
  }
}

interface Approval {
  readonly id: AuthorizationId
  readonly clientId: ClientId
  readonly userId: UserId
  /** The hash of the code, and of the browser. */
  readonly hash: SecretHash
  readonly now: EpochMs
  readonly expiresAt: EpochMs
  readonly isLogin: boolean
}

/** Stores an authorization request and its approval. */
export async function approve(
  store: Context['store'],
  { id, clientId, userId, hash, now, expiresAt, isLogin }: Approval,
): Promise<void> {
  const session = { rootId: id as string as SessionId, methods: ['pwd'], at: now } as const
  const authorization: AuthorizationRecord = {
    id,
    clientId,
    browserHash: hash,
    redirectUri: REDIRECT_URI as RedirectUri,
    responseMode: 'query',
    state: 'bench',
    codeChallenge: CHALLENGE,
    keyThumbprint: undefined,
    scope: (isLogin ? 'openid' : SCOPE) as Scope,
    ungrantedScope: NO_SCOPE,
    resources: [],
    mustSignIn: false,
    authenticatedSince: undefined,
    authentication: undefined,
    stated: undefined,
    onlyUserId: undefined,
    openid: isLogin ? { nonce: 'a-nonce-of-usual-length', idTokenClaims: [], session } : undefined,
    mustConsent: false,
    loginHint: undefined,
    organizationId: undefined,
    pushedRequestId: undefined,
    device: undefined,
    createdAt: now,
    expiresAt,
    status: { kind: 'pending' },
  }
  const started = store.startAuthorization(authorization)
  const answer = {
    id,
    userId,
    organizationId: undefined,
    codeHash: hash,
    now,
    decided: undefined,
    remember: undefined,
    session: undefined,
    notified: undefined,
  }
  // Both are queued in this order, so that one commit contains them in this order.
  const approved = store.approveAuthorization({ ...answer, codeExpiresAt: expiresAt })
  await started
  if ((await approved) !== 'approved') throw new Error('An authorization was not approved.')
}

/** Declares the APIs in the running server's store, and waits until the server knows them. */
export async function declareApis(context: Context): Promise<void> {
  const scopes = SCOPE.split(' ').map((name) => ({
    name,
    sentence: `Use ${name}`,
    grantedTo: 'users-and-machines' as const,
  }))
  const apis = [
    { resource: 'https://api.example' as Resource, tokens: SERVER_TOKENS },
    { resource: OPAQUE_RESOURCE as Resource, tokens: { ...SERVER_TOKENS, format: 'opaque' as const } },
  ]
  for (const api of apis) await createApi(context, { ...api, name: undefined, exchange: [], scopes })
  await delay(CATALOGUE_MS)
}
