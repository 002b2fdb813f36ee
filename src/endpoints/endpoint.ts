import type { BudgetName } from '../ports/budgets.ts'
import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { GrantType } from '../protocol/token/grant-types.ts'

/** One endpoint: its method and path, what it accepts, the form of its errors, and the function that handles a request. */
export type Endpoint = EndpointRow & EndpointLimit

/**
 * The rate limits that requests to an endpoint count against, or the reason why it has no limit but the share of each network
 * (http/gate.ts). docs/faults.md has the rates.
 */
type EndpointLimit =
  | { readonly budgets: readonly [BudgetName, ...(readonly BudgetName[])] }
  | { readonly unlimited: string }

interface EndpointRow {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The media type of the body; undefined for requests without one. */
  readonly accepts?: 'application/json' | 'application/x-www-form-urlencoded'
  /** A request without a body and its type is accepted, too. */
  readonly isBodyOptional?: true
  /** The form of its errors: `json` for programs, `page` for users. */
  readonly audience: 'json' | 'page'
  /**
   * HTML §7.1.3: another site that opens its pages in a window cannot see or move that window, and so does not learn whether its reader is
   * signed in. `cut-for-account`: those for the account pages alone. The other pages keep their opener, because apps open an authorization
   * and a sign-out in a window that reports back.
   */
  readonly opener?: 'cut' | 'cut-for-account'
  /**
   * The parameters by which a GET shows its page again, in another language too, and does nothing else. The page then has links to itself in
   * each language. They have no other parameter, so that no other site plants one there (threats.md UI-07, DEV-04). The browser keeps the
   * language of such a link, also if it leads elsewhere. The answers to forms and the refusals that have such links name their parameters
   * themselves (`reopenedWith`); the others have no links, because a GET shows something else, or would lose what the form has: a second
   * step, a choice, or a proof.
   */
  readonly reopenedBy?: readonly string[]
  /** Scripts of any origin may call it, without credentials (real-clients.md). */
  readonly cors?: boolean
  /** It reads the query. Other JSON endpoints do not. */
  readonly query?: true
  /** It answers also while the store may have been restored by other means (`Context.hasStoreGoneBack`). */
  readonly withoutStore?: true
  /** Reachable without TLS, for load balancers and orchestrators. */
  readonly allowInsecure?: boolean
  /** Still served under overload: what APIs, load balancers and orchestrators depend on, and revocation. */
  readonly priority?: 'high'
  /** The member of the server metadata that has its address. RFC 8414 §2. */
  readonly metadata?: string
  /** The endpoint belongs to this grant type: it is served and advertised only where the grant type is offered. */
  readonly grantType?: GrantType
  readonly run: (context: Context, request: Request) => Promise<Reply>
}
