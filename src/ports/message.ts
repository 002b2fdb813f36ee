import type { Parameters } from '../protocol/message.ts'
import type { MintedCredential } from '../protocol/secrets.ts'
import type { OutcomeEvent } from './context.ts'
import type { Language, Page } from './pages.ts'

/** A request as the endpoints see it, whatever server carries it. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The form of a POST, the query of a GET. */
  readonly params: Parameters
  readonly query: Parameters
  /** The body, unread. '' where the endpoint takes none. */
  readonly body: string
  readonly authorization: string | undefined
  readonly cookies: Cookies
  /** The caller's address, or its /64 for IPv6: what budgets are counted by. */
  readonly network: string
  /** `Sec-Fetch-Site`, where the browser sends it. */
  readonly fetchSite: string | undefined
  /** OpenID Connect Core §3.1.2.1, as sent; our own pages hand it on in their addresses. */
  readonly uiLocales: string | undefined
  readonly language: Language
}

/** What our cookies hold. `browser` only recognises a browser, `session` says who is signed in. */
export interface Cookies {
  readonly browser: string | undefined
  readonly session: string | undefined
}

/** Changes to the cookies. `session: 'end'` removes it. */
export interface CookieChanges {
  readonly browser?: MintedCredential
  readonly session?: MintedCredential | 'end'
}

/** An answer as the endpoints give it, and what happened, for the log. */
export type Reply = { readonly event?: OutcomeEvent } & (
  | {
      readonly kind: 'json'
      readonly status: number
      readonly body: object
      /** undefined: `no-store`. Otherwise seconds that anybody may keep it. */
      readonly maxAgeSeconds?: number
    }
  | { readonly kind: 'empty'; readonly status: 200 | 204 }
  /** Always 303, so that a browser never posts a password on (RFC 9700 §4.12). */
  | { readonly kind: 'redirect'; readonly location: string; readonly cookies?: CookieChanges }
  | {
      readonly kind: 'page'
      readonly status: number
      readonly page: Page
      /** Where the page's form may lead in the end, as a CSP source; browsers check it after the redirect too. */
      readonly formTarget?: string
      readonly retryAfterSeconds?: number
      readonly cookies?: CookieChanges
    }
)
