import * as z from 'zod'
import { ISO, iso } from '../../base/iso.ts'
import { levelWord } from '../../protocol/sign-in/acr.ts'
import type { ApiRecord, ApiScope, ApiTokens } from '../../ports/records/api.ts'
import { MAX_AGE_LIMIT } from '../../protocol/openid/request.ts'
import { LOCALIZED_TEXT } from '../../answers/localized-text.ts'
import { tableOf } from '../../answers/table.ts'
import { describeGroupClaim, GROUP_CLAIM, GROUP_WORDS } from '../group/group-claim.ts'
import { SERVER_TOKENS } from './api.ts'

/** In seconds. */
export const MAX_AGE = z.int().min(0).max(MAX_AGE_LIMIT)
export const MAX_AGE_TEXT = 'The greatest age of the authentication at the request of the client, in seconds'

export const STEP_UP = z.object({
  level: z
    .enum(['2fa', 'phr'])
    .describe('2fa: the user must have signed in with two factors. phr: with a passkey, or one beside another method.'),
  max_age: MAX_AGE.nullable().describe(`${MAX_AGE_TEXT}; null: any.`),
})

const ofScope = tableOf<ApiScope>()
const SCOPE = ofScope.table({
  name: ofScope.row(z.string(), ({ name }) => name),
  sentence: ofScope.row(
    LOCALIZED_TEXT.describe('The text of the scope on the consent page.'),
    ({ sentence }) => sentence,
  ),
  granted_to: ofScope.row(
    z
      .enum(['users', 'users-on-request', 'users-and-machines', 'approved-clients'])
      .describe(
        'users: with consent. users-on-request: with consent, when the request names the scope. users-and-machines: also without a user, to any client. approved-clients: only to clients that are approved for the scope.',
      ),
    ({ grantedTo }) => grantedTo,
  ),
  step_up: ofScope.row(
    STEP_UP.nullable().describe('What the scope requires of the authentication of the user; null: nothing.'),
    ({ stepUp }) => (stepUp === undefined ? null : { level: levelWord(stepUp.level), max_age: stepUp.maxAge ?? null }),
  ),
})
/** A scope, and which clients can have it (decision 0006). */
export const SCOPE_DOCUMENT = z.object(SCOPE.shape).meta({ id: 'ApiScope' })

const ofTokens = tableOf<ApiTokens>()
const TOKENS = ofTokens.table({
  format: ofTokens.row(
    z.enum(['jwt', 'opaque']).describe('jwt: APIs can verify the tokens locally. opaque: APIs introspect them.'),
    ({ format }) => format,
  ),
  lifetime: ofTokens.row(
    z.int().nullable().describe('Seconds; null: the lifetime of the server.'),
    ({ lifetime }) => lifetime ?? null,
  ),
  algorithm: ofTokens.row(
    z
      .enum(['ES256', 'EdDSA', 'RS256'])
      .nullable()
      .meta({ description: 'What signs its JWTs.', nullMeans: 'the algorithm of the server' }),
    ({ algorithm }) => algorithm ?? null,
  ),
  jwt_type: ofTokens.row(
    z
      .enum(['at+jwt', 'JWT'])
      .describe('The `typ` of its JWTs: at+jwt (RFC 9068), or JWT for verifiers that accept no other type.'),
    ({ jwtType }) => jwtType,
  ),
  application_subject: ofTokens.row(
    z
      .boolean()
      .describe(
        'Whether its tokens have `application_subject`: the id of the user at the application that signs users in. The client can read it in a JWT.',
      ),
    ({ applicationSubject }) => applicationSubject,
  ),
  binding: ofTokens.row(
    z
      .enum(['any', 'dpop', 'bearer'])
      .describe(
        'Whether its tokens are bound to a key of the client (DPoP). any: if the client sends a proof. dpop: always; a request without a proof is refused. bearer: never, because the API cannot check proofs.',
      ),
    ({ binding }) => binding,
  ),
})
export const TOKENS_DOCUMENT = z.object(TOKENS.shape).meta({ id: 'ApiTokens' })
/** The settings of the tokens of an API without any of its own. */
export const DEFAULT_API_TOKENS = TOKENS.show(SERVER_TOKENS)

const { row, table } = tableOf<ApiRecord>()
/** An API in an answer, without its secret. */
export const API = table({
  resource: row(z.string(), ({ resource }) => resource),
  name: row(LOCALIZED_TEXT.nullable(), ({ name }) => name ?? null),
  scopes: row(z.array(SCOPE_DOCUMENT), ({ scopes }) => scopes.map(SCOPE.show)),
  tokens: row(TOKENS_DOCUMENT, ({ tokens }) => TOKENS.show(tokens)),
  groups: row(
    GROUP_CLAIM.describe('The claim of its tokens in which the API reads the groups of users.'),
    ({ groups }) => describeGroupClaim(groups).groups,
  ),
  group_words: row(GROUP_WORDS, ({ groups }) => describeGroupClaim(groups).group_words),
  exchange: row(
    z
      .array(z.object({ resource: z.string(), scope: z.string() }))
      .describe('The APIs whose tokens can be exchanged for tokens of this API, and the most that they have.'),
    ({ exchange }) => exchange.map(({ resource, scope }) => ({ resource, scope })),
  ),
  introspection_id: row(
    z.string().nullable().describe('The id that the API introspects tokens with; null: it has no credentials.'),
    ({ credentials }) => credentials?.id ?? null,
  ),
  created_at: row(ISO, ({ createdAt }) => iso(createdAt)),
})
export const API_DOCUMENT = z.object(API.shape).meta({ id: 'Api' })
export const KEPT_API_DOCUMENT = API_DOCUMENT.extend({
  notice: z.string().nullable().describe('A warning about the API as it is now; null: none.'),
}).meta({ id: 'KeptApi' })

export type ApiDocument = z.output<typeof API_DOCUMENT>
export type KeptApiDocument = z.output<typeof KEPT_API_DOCUMENT>
