import type { IncomingMessage } from 'node:http'
import * as z from 'zod'
import { AdminError } from '../admin/admin-error.ts'
import { EMAIL, GROUP_ID, NAME } from '../admin/fields.ts'
import { openBrowser } from '../endpoints/authorization/interaction.ts'
import type { Context } from '../ports/context.ts'
import type { Cookies } from '../ports/message.ts'
import { findInteractionOf } from '../requests/find-interaction.ts'
import { CONTINUE_PATH, SUBJECT_FORM } from '../protocol/sign-in/interaction.ts'
import { addressOf } from '../protocol/uri/server-address.ts'
import type { GrantorTasks } from '../../generated/api-types.d.ts'

/** A person who is signed in at the host. */
export interface Person {
  /** The host's id of the person, which never becomes that of another person: 1 to 255 characters of ASCII without spaces. */
  readonly subject: string
  readonly email?: string | null | undefined
  /** Whether the host knows that the address is the person's. */
  readonly emailVerified?: boolean | null | undefined
  readonly name?: string | null | undefined
  /**
   * The ids of the groups in which the person is, as the host says it: those that it said before and that are not in the list end. Absent:
   * they stay.
   */
  readonly groups?: readonly string[] | null | undefined
  /**
   * When the person last authenticated at the host: a Date, the milliseconds since the epoch (`Date.now()`), or an ISO 8601 text with a
   * zone (`2026-01-31T12:00:00Z`).
   */
  readonly authenticatedAt: Date | number | string
  /** Whether the person authenticated with two factors then. */
  readonly multiFactor?: boolean | null | undefined
}

/** The request as the host has it: of node:http and frameworks on it from `handler`, and of Fetch from `fetch`. */
export type HostRequest = IncomingMessage | Request

/** The sessions of the host. The host signs people in; Grantor asks them for consent. */
export interface People {
  /**
   * Returns the person who is signed in at the host in this browser, within ten seconds; undefined or null if no person is signed in. The
   * function may read only the request.
   */
  readonly current: (request: HostRequest) => Promise<Person | null | undefined> | Person | null | undefined
  /**
   * Returns the address of the host's sign-in page. The page sends the browser to `returnTo`, a path of the issuer, when the person is
   * signed in. It must accept paths of this host alone, or it is an open redirector. `mustAuthenticate`: the person must authenticate now,
   * whatever session there is, and `authenticatedAt` must say so afterwards. If the browser returns without that, the person gets a page
   * with a button, and is not redirected again. `multiFactorNeeded`: the client, or a scope, asks for two factors, and `multiFactor` must
   * say so afterwards. If the browser returns without that, the client gets less, or an error.
   */
  readonly signInAddress: (returnTo: string, mustAuthenticate: boolean, multiFactorNeeded: boolean) => string
  /** Where the browser is redirected after signing out here: a page that ends the host's session. Default: it stays. */
  readonly signOutAddress?: string | undefined
}

/** Where the listener redirects a browser whose person it does not know. */
export const HOST_SIGN_IN_PATH = '/v2/oauth/host-sign-in'

/** The sessions of many hosts keep whole seconds. */
const RESOLUTION_MS = 1000
/** How long the host may take to find its session. A browser that waits longer is given up by its user. */
const CURRENT_LIMIT_MS = 10_000

/** In 1973, so that a number below is in seconds. As milliseconds it would be a time long ago, and the person would sign in again and again. */
const LEAST_MS = 1e11
const TIME_FORMS = 'must be a valid Date, milliseconds since the epoch, or an ISO 8601 text with a zone'
const AUTHENTICATED_AT = z
  .union(
    [
      z.date(),
      z.number().transform((ms) => new Date(ms)),
      z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
    ],
    TIME_FORMS,
  )
  .refine((time) => !Number.isNaN(time.getTime()), { error: TIME_FORMS, abort: true })
  .refine((time) => time.getTime() >= LEAST_MS, 'must be in milliseconds, not in seconds')

/** An optional member may be null, as JSON and databases have it. */
const PERSON = z.object(
  {
    subject: z.string('must be a string').regex(SUBJECT_FORM, 'must have 1 to 255 characters of ASCII without spaces'),
    email: EMAIL.nullish(),
    emailVerified: z.boolean('must be true or false').nullish(),
    name: NAME.nullish(),
    groups: z.array(GROUP_ID, 'must be a list of the ids of groups').nullish(),
    authenticatedAt: AUTHENTICATED_AT,
    multiFactor: z.boolean('must be true or false').nullish(),
  },
  'must be an object, or undefined if no person is signed in',
)
/** The members that the task names otherwise. */
const MEMBERS: Readonly<Record<string, string>> = { authenticated_at: 'authenticatedAt' }
type CheckedPerson = z.output<typeof PERSON>

/** What the address of a sign-in at the host says. */
interface HostSignIn {
  readonly interaction: string
  /** The browser comes from the host's sign-in page, to which it is not redirected again: that could go on without end. */
  readonly isReturn: boolean
}

/** The parameter of an address that the host's sign-in page returns to. */
const RETURN = 'returned'

/** Reads the query of a request for HOST_SIGN_IN_PATH. */
export function readHostSignIn(query: string | undefined): HostSignIn {
  const parameters = new URLSearchParams(query)
  return { interaction: parameters.get('interaction') ?? '', isReturn: parameters.has(RETURN) }
}

/**
 * Answers an interaction for the host (docs/delegated-sign-in.md), and returns the address that the browser goes to next.
 *
 * The host's cookie says who the person is, so only the browser that began the interaction may have it answered: in another one the
 * person is another (threats.md DEL-01). The consent page, which follows, is this server's, so a GET that another site caused gives no
 * client access (RFC 9700 §4.4).
 *
 * @throws Error that names the function of the host, and what is wrong with what it returned; or the error of the function
 */
export async function answerForHost(
  { people, tasks, context }: { readonly people: People; readonly tasks: GrantorTasks; readonly context: Context },
  { request, cookies }: { readonly request: HostRequest; readonly cookies: Cookies },
  { interaction, isReturn }: HostSignIn,
): Promise<string> {
  const { issuer } = context
  const begun = await findInteractionOf(context, interaction)
  if (begun === undefined || begun.browserHash !== openBrowser(context, { cookies })) {
    return explanation(issuer, interaction)
  }
  const shown = await unlessAdminError(tasks['interaction.show']({ interaction }))
  if (shown === undefined) return explanation(issuer, interaction)
  const { sign_in_after: after, multi_factor_needed: isMultiFactorNeeded } = shown
  const person = await currentPerson(people, request)
  const isRecent = after === null || (person?.authenticatedAt.getTime() ?? 0) + RESOLUTION_MS >= Date.parse(after)
  const isUnknown = person === undefined || !isRecent
  const isTooWeak = isMultiFactorNeeded && person?.multiFactor !== true
  // The host was asked, and its page has changed nothing.
  if (isUnknown && isReturn) return explanation(issuer, interaction)
  if (isUnknown || (isTooWeak && !isReturn)) {
    const query = new URLSearchParams({ interaction, [RETURN]: '1' })
    const { pathname, search } = new URL(`${addressOf(issuer, HOST_SIGN_IN_PATH)}?${query}`)
    return signInAddress(people, [pathname + search, after !== null, isMultiFactorNeeded])
  }
  const { subject, email, emailVerified, name, groups, authenticatedAt, multiFactor } = person
  const accepted = await unlessAdminError(
    tasks['interaction.accept']({
      interaction,
      subject,
      decision: 'ask',
      authenticated_at: authenticatedAt.toISOString(),
      multi_factor: multiFactor === true,
      ...(typeof email === 'string' ? { email, email_verified: emailVerified === true } : {}),
      ...(typeof name === 'string' ? { name } : {}),
      ...(groups ? { groups } : {}),
    }),
    isMistakeOfHost,
  )
  if (accepted !== undefined) return accepted.redirect_to
  // The client accepts nothing less.
  const error = 'unmet_authentication_requirements'
  const rejected = isTooWeak ? await unlessAdminError(tasks['interaction.reject']({ interaction, error })) : undefined
  return rejected?.redirect_to ?? explanation(issuer, interaction)
}

/** The message has no value of the person: the log keeps it. */
async function currentPerson(people: People, request: HostRequest): Promise<CheckedPerson | undefined> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => limit.reject(new Error(`people.current did not answer within ${CURRENT_LIMIT_MS / 1000} seconds.`)),
    CURRENT_LIMIT_MS,
  )
  const asked = Promise.try(() => people.current(request))
  const answered = await Promise.race([asked, limit.promise]).finally(() => clearTimeout(timer))
  if (answered === undefined || answered === null) return undefined
  const { data, error } = PERSON.safeParse(answered)
  if (data !== undefined) return data
  const problems = error.issues.map(({ path, message }) => [...path, message].join(': '))
  throw new Error(`people.current returned a person that cannot be used. ${problems.join('; ')}`)
}

/** The browser is redirected there, so the address must be one that a header can have. */
function signInAddress(people: People, asked: Parameters<People['signInAddress']>): string {
  const address: unknown = people.signInAddress(...asked)
  if (typeof address !== 'string')
    throw new Error(`people.signInAddress must return a string, and returned ${nameOfType(address)}.`)
  if (!/^[\x21-\x7e]+$/.test(address))
    throw new Error('people.signInAddress returned no address: it is empty, or has spaces or characters outside ASCII.')
  return address
}

function nameOfType(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  return value === null ? 'null' : `a value of the type ${typeof value}`
}

/** For example, the time of the sign-in has not come yet, or a group does not exist. */
function isMistakeOfHost({ kind, problems }: AdminError): boolean {
  return kind === 'refused' || problems.some(({ type }) => type === 'unknown_groups')
}

/** Returns undefined if the task failed, unless for this reason: then the caller is at fault. */
async function unlessAdminError<Answer>(
  work: Promise<Answer>,
  except: (error: AdminError) => boolean = () => false,
): Promise<Answer | undefined> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof AdminError)) throw cause
    if (!except(cause)) return undefined
    const problems = cause.problems.map(({ loc, msg }) => `${MEMBERS[loc.at(-1) ?? ''] ?? loc.at(-1)}: ${msg}`)
    const message = problems.length === 0 ? cause.message : problems.join('; ')
    throw new Error(`people.current returned a person that cannot be used. ${message}`, { cause })
  }
}

/**
 * The address of a page that says why the person cannot continue: the interaction is of another browser, unknown or expired, or has
 * another answer.
 */
function explanation(issuer: string, interaction: string): string {
  return `${addressOf(issuer, CONTINUE_PATH)}?${new URLSearchParams({ interaction })}`
}
