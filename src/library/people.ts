import type { IncomingMessage } from 'node:http'
import { AdminError, type AdminErrorKind } from '../admin/admin-error.ts'
import { CONTINUE_PATH } from '../protocol/interaction.ts'
import { addressOf } from '../protocol/server-address.ts'
import type { GrantorTasks } from './api-types.ts'

/** A person who is signed in at the host. */
export interface Person {
  /** The host's id of the person, which never becomes that of another person: 1 to 255 characters of ASCII without spaces. */
  readonly subject: string
  readonly email?: string
  /** Whether the host knows that the address is the person's. */
  readonly emailVerified?: boolean
  readonly name?: string
  /** When the person last authenticated at the host. */
  readonly authenticatedAt: Date
}

/** The request as the host has it: of node:http and frameworks on it from `handler`, and of Fetch from `fetch`. */
export type HostRequest = IncomingMessage | Request

/** The sessions of the host. The host signs people in; Grantor asks them for consent. */
export interface People {
  /**
   * Returns the person who is signed in at the host in this browser; undefined if no person is signed in. The function may read only the
   * request.
   */
  readonly current: (request: HostRequest) => Promise<Person | undefined> | Person | undefined
  /**
   * Returns the address of the host's sign-in page. The page sends the browser to `returnTo`, a path of the issuer, when the person is
   * signed in. It must accept paths of this host alone, or it is an open redirector. `mustAuthenticate`: the person must authenticate now,
   * whatever session there is, and `authenticatedAt` must say so afterwards.
   */
  readonly signInAddress: (returnTo: string, mustAuthenticate: boolean) => string
  /** Where the browser is redirected after signing out here: a page that ends the host's session. Default: it stays. */
  readonly signOutAddress?: string
}

/** Where the listener redirects a browser whose person it does not know. */
export const HOST_SIGN_IN_PATH = '/v2/oauth/host-sign-in'

/** The sessions of many hosts keep whole seconds. */
const RESOLUTION_MS = 1000

/**
 * Answers an interaction for the host (docs/delegated-sign-in.md), and returns the address that the browser goes to next.
 *
 * The host's cookie says who the person is, and the answer works only in the browser that was sent here. The consent page, which
 * follows, is this server's, so a GET that another site caused gives no client access (RFC 9700 §4.4).
 *
 * @throws AdminError when the person that the host returned is not acceptable
 */
export async function answerForHost(
  { people, tasks, issuer }: { readonly people: People; readonly tasks: GrantorTasks; readonly issuer: string },
  request: HostRequest,
  interaction: string,
): Promise<string> {
  const shown = await unlessAdminError(tasks['interaction.show']({ interaction }))
  if (shown === undefined) return explanation(issuer, interaction)
  const { sign_in_after: after } = shown
  const person = await people.current(request)
  const isRecent = after === null || (person?.authenticatedAt.getTime() ?? 0) + RESOLUTION_MS >= Date.parse(after)
  if (person === undefined || !isRecent) {
    const query = new URLSearchParams({ interaction })
    const { pathname, search } = new URL(`${addressOf(issuer, HOST_SIGN_IN_PATH)}?${query}`)
    return people.signInAddress(pathname + search, after !== null)
  }
  const { subject, email, emailVerified, name, authenticatedAt } = person
  const accepted = await unlessAdminError(
    tasks['interaction.accept']({
      interaction,
      subject,
      decision: 'ask',
      authenticated_at: authenticatedAt.toISOString(),
      ...(email === undefined ? {} : { email, email_verified: emailVerified === true }),
      ...(name === undefined ? {} : { name }),
    }),
    'refused',
  )
  return accepted?.redirect_to ?? explanation(issuer, interaction)
}

/** Returns undefined if the task failed, unless for this reason: then the caller is at fault. */
async function unlessAdminError<Answer>(work: Promise<Answer>, except?: AdminErrorKind): Promise<Answer | undefined> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof AdminError && cause.kind !== except) return undefined
    throw cause
  }
}

/** The address of a page that says why the person cannot continue: the interaction is unknown, has expired, or has another answer. */
function explanation(issuer: string, interaction: string): string {
  return `${addressOf(issuer, CONTINUE_PATH)}?${new URLSearchParams({ interaction })}`
}
