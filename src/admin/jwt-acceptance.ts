import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { findNamed } from '../protocol/token/resource.ts'
import { iso, ISO_OR_NULL } from '../base/iso.ts'

/**
 * Members of the answer of a task that revokes access. A revocation reaches an API that introspects at once, and an API with
 * local verification when the JWTs expire (docs/tokens.md).
 */
export const JWT_ACCEPTANCE = {
  jwt_accepted_until: ISO_OR_NULL.describe(
    'APIs with local verification may accept JWTs that this task revoked until this time; null: no such JWT is left. Introspection rejects a revoked token or grant at once, and tokens of a disabled, changed or deleted user, client or organization within a second.',
  ),
  jwt_accepted_for_seconds: z.int().min(0).describe('The same in seconds from this answer.'),
}

export type JwtAcceptance = z.output<z.ZodObject<typeof JWT_ACCEPTANCE>>

/** What was revoked, and when. */
export interface Ended {
  readonly endedAt: EpochMs
  /** The APIs that the tokens are for; empty: the issuer itself; undefined: any. */
  readonly resources: readonly string[] | undefined
}

/** The time of the revocation plus the longest lifetime of a JWT for the APIs concerned, by their current settings. */
export async function findJwtAcceptance(context: Context, { endedAt, resources }: Ended): Promise<JwtAcceptance> {
  const usual = context.settings.lifetimes.accessToken
  const apis = await context.store.listApis()
  const lifetimeOf = ({ tokens: { format, lifetime } }: (typeof apis)[number]): number =>
    format === 'jwt' ? (lifetime ?? usual) : 0
  const lifetimes = resources?.map((asked) => {
    const api = findNamed(apis, asked)
    return api === undefined ? usual : lifetimeOf(api)
  }) ?? [usual, ...apis.map(lifetimeOf)]
  const longest = lifetimes.length === 0 ? usual : Math.max(...lifetimes)
  return describeJwtAcceptance(context, longest === 0 ? undefined : after(endedAt, longest * 1000))
}

/** `until` is undefined when the revoked token is not a JWT. */
export function describeJwtAcceptance({ clock }: Context, until: EpochMs | undefined): JwtAcceptance {
  const now = clock()
  if (until === undefined || until <= now) return { jwt_accepted_until: null, jwt_accepted_for_seconds: 0 }
  return { jwt_accepted_until: iso(until), jwt_accepted_for_seconds: Math.ceil((until - now) / 1000) }
}

/** Adds to an answer how long JWTs of a disabled user, client or organization, or from before its not-before time, may be accepted. */
export async function withJwtAcceptance<Answer>(
  context: Context,
  answer: Answer,
  { disabledAt, notBefore }: { readonly disabledAt: EpochMs | undefined; readonly notBefore: EpochMs | undefined },
): Promise<Answer & JwtAcceptance> {
  const endedAt = Math.max(disabledAt ?? 0, notBefore ?? 0) as EpochMs
  return { ...answer, ...(await findJwtAcceptance(context, { endedAt, resources: undefined })) }
}

/** The same for a deletion at the current time. */
export async function withDeletion<Answer>(context: Context, answer: Answer): Promise<Answer & JwtAcceptance> {
  return { ...answer, ...(await findJwtAcceptance(context, { endedAt: context.clock(), resources: undefined })) }
}
