import type { Agent } from '../base/agent.ts'
import type { Language } from '../base/language.ts'
import type { Parameters } from '../base/message.ts'
import type { MintedCredential } from '../protocol/secrets.ts'
import type { OutcomeEvent } from './context.ts'
import type { Page } from './pages/pages.ts'

/** A request as the endpoints see it, independent of the HTTP server. */
export interface Request {
  /** In the header `X-Request-Id` of the answer, and in the line of the log. */
  readonly id: string
  /** HEAD is answered as GET. */
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** The form of a POST, the query of a GET. */
  readonly params: Parameters
  readonly query: Parameters
  /** The body as text. '' if the endpoint takes none. */
  readonly body: string
  /** The last segment of the path, where it names a record. */
  readonly name: string | undefined
  readonly authorization: string | undefined
  /** The header `DPoP` as it was sent (RFC 9449 §4.1). undefined: there is none, or the endpoint is for browsers. */
  readonly dpop: string | undefined
  readonly cookies: Cookies
  /**
   * The caller's address (IPv6: its /64). Rate limits count by it. `192.0.2.1 pages`: a page of another site sent the request, and no person
   * opened the address in a window. Such requests have rates of their own.
   */
  readonly network: string
  /** The caller's address (IPv6: its /64). undefined: it is unknown (`knowsCaller` of the connections). */
  readonly callerNetwork: string | undefined
  /** The header `Origin` as it was sent: a page sent the request by its script or form. RFC 6454 §7. */
  readonly origin: string | undefined
  /** The browser, as its `User-Agent` names it. undefined: an unknown one, or the endpoint is for programs. */
  readonly agent: Agent | undefined
  /** `Sec-Fetch-Site`, if the browser sent it; `cross-site` also for an `Origin` of another site. */
  readonly fetchSite: string | undefined
  /** `Sec-Fetch-Dest` shows that the answer fills a frame of a page, not a tab. */
  readonly isInFrame: boolean
  /** OpenID Connect Core §3.1.2.1, as sent. The pages repeat it in their own links. */
  readonly uiLocales: string | undefined
  readonly language: Language
}

/**
 * The values of this server's cookies, in the order of the browser. `browser` only recognises a browser; `session` identifies the signed-in
 * user. Several have one name if another program of a loopback host set one for a longer path.
 */
export interface Cookies {
  readonly browser: readonly string[]
  readonly session: readonly string[]
}

/** Changes to the cookies. `session: 'end'` removes it. `language`: that which the reader chose, which identifies no browser. */
export interface CookieChanges {
  readonly browser?: MintedCredential
  readonly session?: MintedCredential | 'end'
  readonly language?: Language
}

/** An endpoint's response, and the event for the log. */
export type Reply = { readonly event?: OutcomeEvent } & (
  | {
      readonly kind: 'json'
      readonly status: number
      readonly body: object
      /** For how many seconds any cache may keep the response; undefined: `no-store`. */
      readonly maxAgeSeconds?: number
    }
  | { readonly kind: 'empty'; readonly status: 200 | 204 }
  /** JSON that the browser saves as a file. */
  | { readonly kind: 'download'; readonly filename: string; readonly body: object }
  /** The picture of the operator, which the renderer has. A name that it no longer has gets it too, but caches keep it for an hour. */
  | { readonly kind: 'picture'; readonly name: string | undefined }
  /** Always 303, so that a browser does not send a password to the redirect's target (RFC 9700 §4.12). */
  | { readonly kind: 'redirect'; readonly location: string; readonly cookies?: CookieChanges }
  | {
      readonly kind: 'page'
      readonly status: number
      readonly page: Page
      /** Where the page's form may finally lead, as a CSP source. Browsers check it after redirects, too. */
      readonly formTarget?: string
      readonly retryAfterSeconds?: number
      /** The `ui_locales` that the client pushed (RFC 9126), which the address of the request does not have. */
      readonly uiLocales?: string | undefined
      /**
       * The parameters with which a GET of the same path shows the page again, in another language too, where the request alone does not say
       * so: the page answers a form, or refuses something. They have no secret, and nothing that a person typed, because addresses are kept
       * in histories and logs. undefined: those of the endpoint, if it has some.
       */
      readonly reopenedWith?: Readonly<Record<string, string>>
      readonly cookies?: CookieChanges
    }
)
