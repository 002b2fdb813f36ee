import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { MAXIMA, type Maximum } from '../../../base/maxima.ts'
import { asAdministrator } from '../../../admin/administrators.ts'
import { ensureConsoleClient } from '../../../admin/client/console.ts'
import type { Administrator } from '../../../admin/task.ts'
import { authenticateRole, type RoleAuthentication } from '../../../admin/user/role-holder.ts'
import { consoleAssets, type Asset } from '../../../console/assets.ts'
import { document, type Person } from '../../../console/document.ts'
import {
  factorMissing,
  leaving,
  notKept,
  notSignedIn,
  previewBar,
  refusal,
  roleMissing,
} from '../../../console/messages.ts'
import { findSearched, searchAddress } from '../../../console/search.ts'
import { act } from '../../../console/engine/act.ts'
import {
  isFromOwnPage,
  page,
  redirect,
  withParameter,
  type ConsoleAnswer,
  type ConsoleContext,
  type ConsoleRequest,
  type SignedIn,
} from '../../../console/engine/context.ts'
import type { View } from '../../../console/engine/form.ts'
import { findScreen, isScreen, isWithin, mayOpen, openSections } from '../../../console/engine/open-screen.ts'
import { show } from '../../../console/engine/show.ts'
import { createRenderer, type Renderer } from '../../../web/render.ts'
import { accountPath, PATHS } from '../../../endpoints/paths.ts'
import type { Context } from '../../../ports/context.ts'
import type { Branding } from '../../../ports/pages/pages.ts'
import { CONSOLE_CLIENT_ID, CONSOLE_PATH } from '../../../protocol/client/console.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { invalidRequest, OAuthError, unavailable, type ErrorCode, type Reason } from '../../../protocol/errors.ts'
import { addressOf } from '../../../protocol/uri/server-address.ts'
import { isLoopbackHost } from '../../../protocol/uri/loopback.ts'
import { FORWARDING } from '../authorize.ts'
import { consoleCookies, type ConsoleSession } from './cookies.ts'
import { beginSignIn, finishSignIn } from './sign-in.ts'

export interface ConsoleOptions {
  readonly context: Context
  /** Where browsers reach it. */
  readonly origin: string
  readonly branding: Branding
}

/** What the line of the log says of a request. */
interface ConsoleLine {
  task: string
  administrator: Administrator | undefined
}

export interface Console {
  /** @throws OAuthError, StoreUnavailable */
  readonly answer: (request: ConsoleRequest, line: ConsoleLine) => Promise<ConsoleAnswer>
  /** Counts a request until it has left. @throws OAuthError temporarily_unavailable */
  readonly enter: () => () => void
  /** The page of an error that was thrown. */
  readonly refuse: (
    error: OAuthError,
    request: { readonly requestId: string; readonly message: Pick<IncomingMessage, 'url'> },
  ) => ConsoleAnswer
  /** How long a form may be: a browser without a session, which anyone can have, only signs in. */
  readonly bodyLimit: (headers: IncomingHttpHeaders) => Maximum
  readonly findAsset: (path: string) => Asset | undefined
  /**
   * Checks that the request names the host of the console, and that no proxy passed it on to a loopback address: a page of another host
   * could otherwise use the cookie (DNS rebinding, threats.md CON-02).
   *
   * @throws OAuthError invalid_request
   */
  readonly checkHost: (message: Pick<IncomingMessage, 'headers'>) => void
}

/** Where the picture of a preview would be. */
const PICTURES = '/console/a/'
/** Requests of a node at a time: each reads some lists, and none is as urgent as a token. */
const BUSY_LIMIT = 16

/** Opens the console: pages for users with a role, below /console (decision 0041). Nothing is kept in the process. */
export function openConsole({ context, origin, branding }: ConsoleOptions): Console {
  const { issuer, secrets } = context
  const url = new URL(origin)
  const cookies = consoleCookies(context, origin)
  const { files, assets } = consoleAssets(branding)
  let client: Promise<void> | undefined
  let busy = 0
  let renderer: Renderer | undefined

  const common = { branding, assets, accountUri: addressOf(issuer, PATHS.account) }
  /** Renders a view for a person who may see nothing of the server. */
  const plain = (view: View, refresh?: string): string =>
    document({ ...common, ...view, person: undefined, section: undefined, refresh })
  const own: ConsoleContext = {
    server: context,
    origin,
    securityUri: addressOf(issuer, accountPath('security')),
    framed: (view, signedIn, section) => document({ ...common, ...view, person: personOf(context, signedIn), section }),
    preview(shown, back) {
      renderer ??= createRenderer(branding, PICTURES)
      // Without forms, scripts and navigation: the page is to be looked at.
      const { styleSource, picture, pictureName } = renderer
      const policy = `default-src 'none'; style-src ${styleSource}; img-src data:; frame-ancestors 'none'; sandbox`
      // A page in a sandbox is of no origin, so it cannot load the picture.
      const inline = `data:${picture.mediaType};base64,${Buffer.from(picture.body).toString('base64')}`
      const text = renderer
        .render(shown, 'en')
        .replaceAll(PICTURES + pictureName, inline)
        .replaceAll(/<button\b/g, '<button disabled')
        .replace('<div class="card', (card) => `${previewBar(back).toString()}${card}`)
      return page(text, 200, { 'Content-Security-Policy': policy })
    },
    async leave(request, returnTo, isFresh, loginHint) {
      // It may have been deleted since.
      if ((await context.store.findClient(CONSOLE_CLIENT_ID)) === undefined) client = undefined
      // Another node may have created it at the same time.
      client ??= ensureConsoleClient(context, origin).catch(async (cause: unknown) => {
        client = undefined
        if ((await context.store.findClient(CONSOLE_CLIENT_ID)) === undefined) throw cause
      })
      await client
      const [browserKey] = cookies.readBrowsers(request.headers)
      const beginning = beginSignIn(context, origin, { browserKey, returnTo, isFresh, loginHint })
      const body = plain(leaving(beginning.location), beginning.location)
      return page(body, 200, { 'Set-Cookie': cookies.writeBrowser(beginning.browserKey) })
    },
  }

  /** `ended`: the browser had a session. `none`: it had none, or its cookies do not count here. */
  async function authenticate(
    request: ConsoleRequest,
  ): Promise<{ session: ConsoleSession; found: KnownUser } | { session: undefined; found: 'ended' | 'none' }> {
    if (!mayHaveCookie(request)) return { session: undefined, found: 'none' }
    const read = cookies.readSession(request.headers)
    if (read.kind === 'several') throw invalidRequest('console_cookie_wrong', { status: 403 })
    if (read.kind !== 'session') return { session: undefined, found: read.kind }
    const found = await authenticateRole(context, read.session.grantId)
    return found.kind === 'ended' ? { session: undefined, found: 'ended' } : { session: read.session, found }
  }

  async function arrive(request: ConsoleRequest): Promise<ConsoleAnswer> {
    const arrival = await finishSignIn(context, origin, cookies.readBrowsers(request.headers), request)
    switch (arrival.kind) {
      case 'one-factor':
        throw new RefusedPage(
          'insufficient_scope',
          'console_factor_missing',
          plain(factorMissing(own.securityUri, undefined)),
        )
      case 'refused':
        throw new RefusedPage('invalid_request', 'console_sign_in_failed', plain(notSignedIn()))
      case 'signed-in': {
        const earlier = await authenticate(request)
        const grant = await context.store.findGrant(arrival.grantId)
        if (earlier.session !== undefined && grant !== undefined) await endGrant(context, earlier.found, grant.userId)
        const now = context.clock()
        const session = { grantId: arrival.grantId, signedInAt: now, seenAt: now }
        return redirect(withParameter(arrival.returnTo, MARK, now), { 'Set-Cookie': cookies.writeSession(session) })
      }
    }
  }

  async function signOut(request: ConsoleRequest): Promise<ConsoleAnswer> {
    const known = await authenticate(request)
    if (known.session === undefined) return redirect(CONSOLE_PATH)
    const csrf = request.form.get('csrf') ?? ''
    if (!isFromOwnPage(request, origin) || !secrets.digestMatches('csrf', signOutParts(known.session), csrf))
      throw invalidRequest('console_form_wrong', { status: 403 })
    await endGrant(context, known.found, known.found.user.id)
    const location = addressOf(issuer, PATHS.signOut)
    return page(plain(leaving(location), location), 200, { 'Set-Cookie': cookies.endSession() })
  }

  /** Without a sign-in the answer depends on the text alone, so that it says nothing about what exists. */
  async function search(request: ConsoleRequest): Promise<ConsoleAnswer> {
    const [text, section] = [request.query.get('q') ?? '', request.query.get('in')]
    const { found } = await authenticate(request)
    const role = typeof found === 'object' && found.kind === 'administrator' ? found.administrator : undefined
    if (role === undefined || role.organizationId !== undefined)
      return redirect(searchAddress(text, role?.organizationId))
    const to = await findSearched(context, text, section)
    return redirect(mayOpen(new URL(to, origin).pathname, role) ? to : searchAddress(text, undefined))
  }

  function sessionNotKept(here: string): RefusedPage {
    return new RefusedPage('invalid_request', 'console_cookie_wrong', plain(notKept(here)))
  }

  function refuseHolder({
    session,
    found,
  }: {
    session: ConsoleSession
    found: Extract<RoleAuthentication, { kind: 'refused' }>
  }): never {
    const { reason, user } = found
    context.report({ event: 'console.refused', userId: user.id, details: { reason } })
    const csrf = secrets.digest('csrf', signOutParts(session))
    const view =
      reason === 'console_role_missing'
        ? roleMissing(user.name ?? user.email ?? user.id, user.id, csrf)
        : factorMissing(own.securityUri, csrf)
    throw new RefusedPage('insufficient_scope', reason, plain(view))
  }

  return {
    bodyLimit: (headers) => (cookies.readSession(headers).kind === 'session' ? MAXIMA.adminBody : MAXIMA.body),
    findAsset: (path) => files.get(path),
    checkHost({ headers }) {
      const isForwarded = isLoopbackHost(url.hostname) && FORWARDING.some((name) => headers[name] !== undefined)
      if (headers.host !== url.host || isForwarded) throw invalidRequest('console_host_wrong', { status: 421 })
    },
    refuse(error, { requestId, message: { url: target = '' } }) {
      if (error instanceof RefusedPage) return page(error.page, error.status)
      const title = REASON_TITLES[error.reason] ?? TITLES[error.status] ?? 'The request was refused'
      const [path = ''] = target.split('?', 1)
      // Whether the screen of a path that is absent is there for the person is not known here.
      const back = error.status !== 404 && isScreen(path) ? path : undefined
      const text = TEXTS[error.reason] ?? error.problems[0]?.msg ?? error.description
      return page(plain(refusal(title, text, { requestId, back })), error.status)
    },
    enter() {
      if (busy >= BUSY_LIMIT) throw unavailable('overloaded', 1)
      busy += 1
      return () => void (busy -= 1)
    },
    async answer(request, line) {
      const { method, path } = request
      if (path === `${CONSOLE_PATH}/callback` && method === 'GET') return arrive(request)
      if (path === `${CONSOLE_PATH}/sign-out` && method === 'POST') return signOut(request)
      if (path === `${CONSOLE_PATH}/search` && method === 'GET') return search(request)
      if (path === `${CONSOLE_PATH}/` && method === 'GET') return redirect(CONSOLE_PATH)
      const found = findScreen(request)
      if (found === undefined) throw invalidRequest('path_unknown', { status: 404 })
      line.task = `console ${found.screen.path}`
      const known = await authenticate(request)
      if (known.session === undefined) {
        // A form is not repeated after the sign-in: its page is shown again.
        if (method === 'POST') return redirect(found.here)
        // Another sign-in would end here again (threats.md CON-30).
        if (known.found === 'none' && isMarked(request, context.clock())) throw sessionNotKept(found.here)
        return own.leave(request, found.here, known.found === 'ended')
      }
      const { session } = known
      if (known.found.kind === 'refused') refuseHolder({ session, found: known.found })
      const signedIn = known.found
      const { administrator } = signedIn
      line.administrator = administrator
      const [home] = openSections(administrator)
      if (path === CONSOLE_PATH && home !== undefined && home.path !== path) return redirect(home.path)
      if (!isWithin(found, administrator)) throw invalidRequest('path_unknown', { status: 404 })
      const open = { ...found, context: own, request, signedIn }
      const work = () => (method === 'POST' ? act(open, line) : show(open))
      const answer = await context.inRequest(request.requestId, work)
      if (!cookies.isDue(session) || answer.headers['Set-Cookie'] !== undefined) return answer
      const renewed = cookies.writeSession({ ...session, seenAt: context.clock() })
      return { ...answer, headers: { ...answer.headers, 'Set-Cookie': renewed } }
    },
  }
}

type KnownUser = Exclude<RoleAuthentication, { kind: 'ended' }>

/** What the address of the first page after a sign-in has besides: the time. */
const MARK = 'signed_in'
const MARK_MS = 60 * 1000

function isMarked({ query }: ConsoleRequest, now: EpochMs): boolean {
  const age = now - Number(query.get(MARK))
  return age >= 0 && age < MARK_MS
}

/** A page of another site, or of another port of the host, cannot ask for pages with the cookie, to measure how long they take. */
function mayHaveCookie({ method, headers }: ConsoleRequest): boolean {
  const site = headers['sec-fetch-site']
  return (
    method === 'POST' ||
    site === undefined ||
    site === 'none' ||
    site === 'same-origin' ||
    headers['sec-fetch-mode'] === 'navigate'
  )
}

/** A refusal whose page says what the person can do. */
class RefusedPage extends OAuthError {
  readonly page: string

  constructor(code: ErrorCode, reason: Reason, text: string) {
    super(code, reason)
    this.page = text
  }
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'The form was refused',
  404: 'There is nothing here',
  421: 'This is not the address of the console',
  429: 'Too many requests',
  503: 'The store does not answer',
}

const REASON_TITLES: Partial<Record<Reason, string>> = {
  admin_may_only_read: 'You may only read',
  admin_access_too_narrow: 'This is not a part of your role',
  overloaded: 'The console is busy',
}

/** What the person can do, by the reason of the refusal. */
const TEXTS: Partial<Record<Reason, string>> = {
  console_cookie_wrong:
    'The browser has cookies of several sessions, one of which another site has set. Remove the cookies of this host, and open the console again.',
  console_form_wrong: 'The form is from another page or session. Go back, reload the page, and send it again.',
  console_host_wrong: 'Open the address that GRANTOR_CONSOLE_URL names.',
  console_sign_in_failed:
    'The sign-in was begun in another browser, too long ago, or was used before. Open the console again.',
  path_unknown: 'The address leads to no page of the console.',
  store_unavailable: 'Try again in a moment. "grantor doctor" says what is wrong.',
  overloaded: 'Many people use the console now. Try again in a moment.',
  admin_may_only_read: 'Your role reads, and changes nothing.',
  admin_access_too_narrow: 'Your role is for the support of users, and does not include this.',
}

function personOf({ secrets }: Pick<Context, 'secrets'>, signedIn: SignedIn): Person {
  const { user, administrator, organization } = signedIn
  return {
    name: user.name ?? user.email ?? user.id,
    email: user.email ?? null,
    access: administrator.access,
    sections: openSections(administrator),
    organization,
    csrf: secrets.digest('csrf', signOutParts(signedIn)),
  }
}

function signOutParts({ grantId }: Pick<ConsoleSession, 'grantId'>): readonly string[] {
  return ['console', grantId, 'sign-out']
}

/** The audit names who ended it: the user, or another person who signed in in the same browser. */
async function endGrant(context: Context, { grantId: id, user }: KnownUser, actor: UserId): Promise<void> {
  const { store } = asAdministrator(context, {
    actor,
    access: 'write',
    organizationId: undefined,
    isLoopbackOnly: false,
    holder: undefined,
  })
  await store.revokeGrant({ id, now: context.clock(), about: { clientId: CONSOLE_CLIENT_ID, userId: user.id } })
}
