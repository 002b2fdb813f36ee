import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { InitialTokenRecord } from '../../ports/records/initial-token.ts'
import { after } from '../../base/brand.ts'
import { mintInitialTokenId } from '../../protocol/ids.ts'
import {
  parseRedirectHost,
  REDIRECT_HOST_LIMIT,
  TOKEN_DAYS,
  TOKEN_USES,
  DEFAULT_TEMPLATE,
  VERIFIED_TOKEN_DAYS,
  VERIFIED_TOKEN_USES,
  type RegistrationTemplate,
} from '../../protocol/client/registration-template.ts'
import { conflict, unknown } from '../admin-error.ts'
import { requireLasting } from '../administrators.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { INITIAL_TOKEN_ID, LIMIT, NAME, NEXT, pageStart, SCOPE } from '../fields.ts'
import { listPage } from '../page.ts'
import { defineTask, type Task } from '../task.ts'

/** A new initial access token, which is shown once. */
interface NewInitialToken {
  readonly record: InitialTokenRecord
  readonly token: string
}

/**
 * Creates an initial access token. RFC 7591 §1.2.
 *
 * @throws AdminError when a token for verified clients would have too many uses or too many days, or a host of the template is not one
 */
export async function createInitialToken(
  { store, clock, random, secrets }: Context,
  input: Pick<InitialTokenRecord, 'name' | 'uses' | 'template'> & { readonly days: number },
): Promise<NewInitialToken> {
  const { name, uses, days } = input
  const template = { ...input.template, redirectHosts: input.template.redirectHosts?.map(requireHost) }
  if (template.trustLevel === 'verified' && (uses > VERIFIED_TOKEN_USES || days > VERIFIED_TOKEN_DAYS)) {
    throw conflict(
      `A token that makes verified clients has at most ${VERIFIED_TOKEN_USES} uses and ${VERIFIED_TOKEN_DAYS} days.`,
    )
  }
  const now = clock()
  const id = mintInitialTokenId(now, random)
  const { token, hash } = secrets.mint('initial-token', id, random)
  const record = {
    id,
    name,
    secretHash: hash,
    template,
    uses,
    usesLeft: uses,
    createdAt: now,
    expiresAt: after(now, days * DAY_MS),
    revokedAt: undefined,
  }
  await store.createInitialToken(record)
  return { record, token }
}

function requireHost(text: string): string {
  const host = parseRedirectHost(text)
  if (host !== undefined) return host
  throw conflict(
    `"${text}" is not a host for redirect URIs: give app.example, *.app.example or localhost, and no public suffix.`,
  )
}

const DAY_MS = 24 * 60 * 60 * 1000
const PATH = '/admin/v1/initial-tokens'
const HOST = z
  .string()
  .min(1)
  .max(255)
  .meta({ examples: ['app.example'] })
const HOSTS = z.array(HOST).min(1).max(REDIRECT_HOST_LIMIT)
const TRUST_LEVEL = z.enum(['verified', 'unverified'])
const UNUSED = z.enum(['keep', 'sweep'])

/** What the clients of a token are. Every member may be absent. */
const TEMPLATE = z
  .strictObject({
    trust_level: TRUST_LEVEL.default(DEFAULT_TEMPLATE.trustLevel).describe(
      `Whether the clients count as verified. If so, the token has at most ${VERIFIED_TOKEN_USES} uses and ${VERIFIED_TOKEN_DAYS} days.`,
    ),
    scope: SCOPE.optional().describe(
      'The maximum scope that the clients may register; by default every declared scope.',
    ),
    redirect_hosts: HOSTS.optional().describe(
      'The hosts that redirect and logout URIs may have, such as `app.example`, `*.app.example` or `localhost`; by default every host. If hosts are given, no private-use URI is allowed.',
    ),
    unused: UNUSED.default(DEFAULT_TEMPLATE.unused).describe(
      'Whether a client that never gets a token is kept, or removed as after an open registration.',
    ),
  })
  .meta({ id: 'RegistrationTemplate' })

/** An initial access token in an answer, without the token. */
const INITIAL_TOKEN_DOCUMENT = z
  .object({
    initial_token_id: z.string(),
    name: z.string(),
    uses: z.int().describe('How many clients can register with the token in total.'),
    uses_left: z.int(),
    template: z.object({
      trust_level: TRUST_LEVEL,
      scope: z.string().nullable().describe('null: every declared scope.'),
      redirect_hosts: z.array(z.string()).nullable().describe('null: every host.'),
      unused: UNUSED,
    }),
    created_at: ISO,
    expires_at: ISO,
    revoked_at: ISO_OR_NULL,
  })
  .meta({ id: 'InitialToken' })

export type InitialTokenDocument = z.output<typeof INITIAL_TOKEN_DOCUMENT>

export const INITIAL_TOKEN_TASKS: readonly Task[] = [
  defineTask({
    name: 'initial-token.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the initial access tokens, newest first.',
    input: z.object({ limit: LIMIT, before: pageStart(INITIAL_TOKEN_ID) }),
    output: z.object({ initial_tokens: z.array(INITIAL_TOKEN_DOCUMENT), next: NEXT }),
    async run({ store }, page) {
      const { rows, next } = await listPage(store.listInitialTokens, page)
      return { initial_tokens: rows.map(describe), next }
    },
  }),
  defineTask({
    name: 'initial-token.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create an initial access token, with which clients register. It is shown once.',
    secret: { member: 'initial_access_token' },
    input: z.object({
      name: NAME.describe('The program or the person that the token is for.'),
      uses: z
        .int()
        .min(1)
        .max(TOKEN_USES.most)
        .default(TOKEN_USES.usual)
        .describe('How many clients can register with it.'),
      days: z.int().min(1).max(TOKEN_DAYS.most).default(TOKEN_DAYS.usual).describe('How many days it is valid.'),
      template: TEMPLATE.optional().describe('The settings of clients that register with this token.'),
    }),
    output: INITIAL_TOKEN_DOCUMENT.extend({ initial_access_token: z.string() }).meta({ id: 'NewInitialToken' }),
    async run(context, { template, ...input }) {
      if (template?.trust_level === 'verified')
        requireLasting(context.administrator, 'let clients register as verified ones')
      const { record, token } = await createInitialToken(context, { ...input, template: readTemplate(template) })
      return { ...describe(record), initial_access_token: token }
    },
  }),
  defineTask({
    name: 'initial-token.revoke',
    method: 'DELETE',
    path: `${PATH}/{initial_token_id}`,
    access: 'write',
    summary: 'Revoke an initial access token at once. Clients that registered with it stay usable.',
    already: ({ revoked_at: at }) => at !== null,
    input: z.object({ initial_token_id: INITIAL_TOKEN_ID }),
    output: INITIAL_TOKEN_DOCUMENT,
    // It is revoked on all nodes before the answer.
    async run({ store, clock }, { initial_token_id: id }) {
      await store.revokeInitialToken({ id, now: clock() })
      const record = await store.findInitialToken(id)
      if (record !== undefined) return describe(record)
      throw unknown(`There is no initial access token ${id}. See "grantor initial-token list".`)
    },
  }),
]

function readTemplate(given: z.output<typeof TEMPLATE> | undefined): RegistrationTemplate {
  if (given === undefined) return DEFAULT_TEMPLATE
  const { trust_level: trustLevel, scope, redirect_hosts: redirectHosts, unused } = given
  return { trustLevel, scope, redirectHosts, unused }
}

function describe({ id, name, uses, usesLeft, template, ...times }: InitialTokenRecord): InitialTokenDocument {
  const { trustLevel, scope, redirectHosts, unused } = template
  return {
    initial_token_id: id,
    name,
    uses,
    uses_left: usesLeft,
    template: {
      trust_level: trustLevel,
      scope: scope ?? null,
      redirect_hosts: redirectHosts === undefined ? null : [...redirectHosts],
      unused,
    },
    created_at: iso(times.createdAt),
    expires_at: iso(times.expiresAt),
    revoked_at: isoOrNull(times.revokedAt),
  }
}
