import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import { findToken, type FoundToken } from '../tokens/find-token.ts'
import { hasExpiredEverywhere } from '../tokens/has-expired-everywhere.ts'
import { checkToken, INACTIVE_REASONS, type End } from '../tokens/inactive-reason.ts'
import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import type { EpochMs } from '../base/brand.ts'
import type { GrantId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/token/resource.ts'
import { kindByPrefix } from '../protocol/secrets.ts'
import { unknown } from './admin-error.ts'
import { ISO, ISO_OR_NULL, iso } from '../base/iso.ts'
import { describeJwtAcceptance, findJwtAcceptance, JWT_ACCEPTANCE } from './jwt-acceptance.ts'
import { defineTask, type Task } from './task.ts'
import { MAXIMA } from '../base/maxima.ts'

const PATH = '/admin/v1/tokens'
const TOKEN = z
  .string()
  .max(MAXIMA.accessToken.most)
  .refine((text) => !/^(?:authorization:\s*)?bearer\s/i.test(text), {
    error: 'This is a header. Leave out what is before the token: Bearer.',
    abort: true,
  })
  .refine((text) => otherKindOf(text) === undefined, {
    error: ({ input }) => `This is no token, but another secret: ${otherKindOf(String(input))}.`,
  })
  .regex(/^[\x21-\x7e]+$/, { error: 'This is not a token.' })
  .meta({
    writeOnly: true,
    examples: ['grt_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'],
    description: 'An access token or a refresh token.',
  })

/** What else a person pastes, as words; undefined: a text that may be a token. */
function otherKindOf(text: string): string | undefined {
  const kind = kindByPrefix(text)
  return kind === 'access-token' || kind === 'refresh-token' ? undefined : kind?.replace('-', ' ')
}

/** The state of a token. A text that this server never issued has the kind `unknown` and nulls. */
const INSPECTION = z
  .object({
    kind: z.enum(['access', 'refresh', 'unknown']),
    active: z.boolean().describe('Whether the token is valid now.'),
    ended_by: z
      .enum(INACTIVE_REASONS)
      .nullable()
      .describe(
        'Why the token is inactive: expired, not-yet-valid (issued by a clock that was ahead), revoked, held (an earlier refresh token was used in another network, or was too old), replaced (a newer refresh token), or what was disabled, expired or deleted.',
      ),
    client_id: z.string().nullable(),
    user_id: z.string().nullable(),
    organization_id: z.string().nullable(),
    grant_id: z.string().nullable(),
    token_id: z.string().nullable().describe('The jti of an access token.'),
    scope: z.string().nullable(),
    resources: z.array(z.string()).describe('The APIs that the token is for; empty: the issuer itself.'),
    actors: z
      .array(z.string())
      .describe('The APIs that exchanged the token, the newest first; empty: it is as the client got it.'),
    issued_at: ISO_OR_NULL,
    expires_at: ISO_OR_NULL,
  })
  .meta({ id: 'TokenInspection' })

export type TokenInspection = z.output<typeof INSPECTION>

export const TOKEN_TASKS: readonly Task[] = [
  defineTask({
    name: 'token.inspect',
    method: 'POST',
    path: `${PATH}/inspect`,
    access: 'read',
    summary: 'Show the owner of a token, and whether it is active.',
    input: z.object({ token: TOKEN }),
    output: INSPECTION,
    run: async (context, { token }) => describeInspection(await inspectToken(context, token)),
  }),
  defineTask({
    name: 'token.revoke',
    method: 'POST',
    path: `${PATH}/revoke`,
    access: 'write',
    anyClock: true,
    summary: 'Revoke a token, or its grant with all tokens of the grant.',
    needsRecentSignIn: true,
    isFinal: true,
    input: z.object({
      token: TOKEN,
      family: z
        .boolean()
        .default(false)
        .describe('Revoke the grant of an access token too. The grant of a refresh token is always revoked.'),
    }),
    output: z.object({
      revoked: z.enum(['access', 'family']),
      token_id: z.string().nullable(),
      grant_id: z.string().nullable(),
      ...JWT_ACCEPTANCE,
    }),
    async run(context, { token, family }) {
      const revoked = await revokeToken(context, token, family ? 'family' : 'token')
      if (revoked.kind === 'access') {
        const { tokenId, jwtExpiresAt } = revoked
        return {
          revoked: revoked.kind,
          token_id: tokenId,
          grant_id: null,
          ...describeJwtAcceptance(context, jwtExpiresAt),
        }
      }
      const ended = { endedAt: context.clock(), resources: revoked.resources }
      const accepted = await findJwtAcceptance(context, ended)
      return { revoked: revoked.kind, token_id: null, grant_id: revoked.grantId, ...accepted }
    },
  }),
  defineTask({
    name: 'token.revoke-all',
    method: 'POST',
    path: `${PATH}/revoke-all`,
    access: 'write',
    summary:
      'Revoke all sessions and tokens of all users and clients. Users sign in again, and clients request new tokens.',
    needsRecentSignIn: true,
    isFinal: true,
    input: z.object({
      confirm: z.literal('everything').describe('Confirms the task.'),
    }),
    output: z.object({
      not_before: ISO.describe(
        'The not-before time: sessions and tokens issued earlier are revoked, on every node within a second.',
      ),
      ...JWT_ACCEPTANCE,
    }),
    async run(context) {
      const now = context.clock()
      await context.store.revokeAllTokens({ now })
      const ended = { endedAt: now, resources: undefined }
      return { not_before: iso(now), ...(await findJwtAcceptance(context, ended)) }
    },
  }),
]

function describeInspection(inspected: InspectedToken | undefined): TokenInspection {
  if (inspected === undefined) return { ...NOTHING, kind: 'unknown', active: false, ended_by: null }
  const { token, end } = inspected
  const state = { kind: token.kind, active: end === undefined, ended_by: end ?? null }
  return { ...state, ...(token.kind === 'access' ? describeFacts(token.facts) : describeGrantState(token.grant)) }
}

type Description = Omit<TokenInspection, 'kind' | 'active' | 'ended_by'>

const NOTHING: Description = {
  client_id: null,
  user_id: null,
  organization_id: null,
  grant_id: null,
  token_id: null,
  scope: null,
  resources: [],
  actors: [],
  issued_at: null,
  expires_at: null,
}

function describeFacts(facts: AccessTokenFacts): Description {
  return {
    client_id: facts.clientId,
    user_id: facts.userId ?? null,
    organization_id: facts.organizationId ?? null,
    grant_id: facts.grantId ?? null,
    token_id: facts.tokenId,
    scope: facts.scope,
    resources: [...facts.resources],
    actors: [...facts.actors],
    issued_at: iso((facts.issuedAt * 1000) as EpochMs),
    expires_at: iso((facts.expiresAt * 1000) as EpochMs),
  }
}

/** A refresh token expires with its grant, or earlier when it is not used. */
function describeGrantState({
  id,
  clientId,
  userId,
  organizationId,
  scope,
  resources,
  createdAt,
  ...grant
}: GrantRecord): Description {
  const { family, expiresAt } = grant
  return {
    client_id: clientId,
    user_id: userId,
    organization_id: organizationId ?? null,
    grant_id: id,
    token_id: null,
    scope,
    resources: [...resources],
    actors: [],
    issued_at: iso(family?.rotatedAt ?? createdAt),
    expires_at: iso(Math.min(expiresAt, family?.idleExpiresAt ?? expiresAt) as EpochMs),
  }
}

/** A token, and the reason why it is inactive; undefined: it is active. */
export interface InspectedToken {
  readonly token: FoundToken
  readonly end: End | undefined
}

/** Inspects a token. Returns undefined for a token that this server did not issue, or that it has deleted. */
async function inspectToken(context: Context, text: string): Promise<InspectedToken | undefined> {
  const token = await findToken(context, text)
  if (token === undefined) return undefined
  const checked = await checkToken(context, token, context.clock())
  return typeof checked === 'string' ? { token, end: checked } : { token: checked, end: undefined }
}

/** The revoked access token, or the revoked grant with all of its tokens. */
export type RevokedToken =
  | {
      readonly kind: 'access'
      readonly tokenId: string
      /** undefined: the token is opaque. */
      readonly jwtExpiresAt: EpochMs | undefined
    }
  | { readonly kind: 'family'; readonly grantId: GrantId; readonly resources: readonly Resource[] }

/**
 * Revokes a token on all nodes before it returns (decision 0005). A refresh token is revoked with its grant, and so is an
 * access token with the extent `family`.
 *
 * @throws AdminError when it is not a token of this server, or has no grant
 */
async function revokeToken(context: Context, text: string, extent: 'token' | 'family'): Promise<RevokedToken> {
  const { store, clock, clockCheck } = context
  const found = await findToken(context, text)
  if (found === undefined) throw unknown('The server did not issue this token, or has deleted it.')
  const grantId = found.kind === 'refresh' ? found.grant.id : extent === 'family' ? found.facts.grantId : undefined
  const { clientId, userId, organizationId, resources } = found.kind === 'refresh' ? found.grant : found.facts
  const about = { clientId, userId, organizationId }
  if (grantId !== undefined) {
    await store.revokeGrant({ id: grantId, now: clock(), about })
    return { kind: 'family', grantId, resources }
  }
  if (found.kind === 'refresh' || extent === 'family') {
    throw unknown('The client got this token without a user, so there is no grant to revoke.')
  }
  const { tokenId } = found.facts
  const expiresAt = (found.facts.expiresAt * 1000) as EpochMs
  if (!hasExpiredEverywhere(clockCheck, expiresAt)) await store.revokeToken({ tokenId, expiresAt, about })
  const isOpaque = context.secrets.verify('access-token', text) !== undefined
  return { kind: 'access', tokenId, jwtExpiresAt: isOpaque ? undefined : expiresAt }
}
