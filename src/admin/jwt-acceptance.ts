import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { after } from '../protocol/brand.ts'
import { sameResource } from '../protocol/resource.ts'
import { iso, ISO_OR_NULL } from './fields.ts'

/**
 * Members of the answer of a task that ends access. A revocation reaches an API that introspects at once, and an API with
 * local verification when the JWTs expire (docs/introspection.md).
 */
export const JWT_ACCEPTANCE = {
  jwt_accepted_until: ISO_OR_NULL.describe(
    'Until then APIs with local verification may accept those that this ended; null: none. Introspection refuses revoked tokens at once, and those of what was disabled, expired or deleted within a second.',
  ),
  jwt_accepted_for_seconds: z.int().min(0).describe('The same, counted from this answer.'),
}

export type JwtAcceptance = z.output<z.ZodObject<typeof JWT_ACCEPTANCE>>

type Needs = Pick<Context, 'clock' | 'settings'> & { readonly store: Pick<Context['store'], 'listApis'> }

/** What ended, and since when. */
export interface Ended {
  readonly endedAt: EpochMs
  /** The APIs that its tokens are for; none: the server itself; undefined: any. */
  readonly resources: readonly string[] | undefined
}

/** As long after the end as the longest-lived JWT of the APIs concerned lives, by the lifetimes as they are now. */
export async function findJwtAcceptance(context: Needs, { endedAt, resources }: Ended): Promise<JwtAcceptance> {
  const usual = context.settings.lifetimes.accessToken
  const apis = await context.store.listApis()
  const lifetimeOf = ({ tokens: { format, lifetime } }: (typeof apis)[number]): number =>
    format === 'jwt' ? (lifetime ?? usual) : 0
  const lifetimes = resources?.map((asked) => {
    const api = apis.find(({ resource }) => sameResource(resource, asked))
    return api === undefined ? usual : lifetimeOf(api)
  }) ?? [usual, ...apis.map(lifetimeOf)]
  const longest = lifetimes.length === 0 ? usual : Math.max(...lifetimes)
  return describeJwtAcceptance(context, longest === 0 ? undefined : after(endedAt, longest * 1000))
}

/** undefined: it is no JWT that ended. */
export function describeJwtAcceptance({ clock }: Pick<Context, 'clock'>, until: EpochMs | undefined): JwtAcceptance {
  const now = clock()
  if (until === undefined || until <= now) return { jwt_accepted_until: null, jwt_accepted_for_seconds: 0 }
  return { jwt_accepted_until: iso(until), jwt_accepted_for_seconds: Math.ceil((until - now) / 1000) }
}

/** Adds to what a task answers of something that is disabled or expired how long JWTs that speak for it are accepted. */
export async function withJwtAcceptance<Answer>(
  context: Needs,
  answer: Answer,
  { disabledAt, notBefore }: { readonly disabledAt: EpochMs | undefined; readonly notBefore: EpochMs | undefined },
): Promise<Answer & JwtAcceptance> {
  const endedAt = Math.max(disabledAt ?? 0, notBefore ?? 0) as EpochMs
  return { ...answer, ...(await findJwtAcceptance(context, { endedAt, resources: undefined })) }
}

/** The same of what is deleted at this moment. */
export async function withDeletion<Answer>(context: Needs, answer: Answer): Promise<Answer & JwtAcceptance> {
  return { ...answer, ...(await findJwtAcceptance(context, { endedAt: context.clock(), resources: undefined })) }
}
