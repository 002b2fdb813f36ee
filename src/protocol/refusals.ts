import { AUTHENTICATION_REASONS, TOKEN_REASONS } from './authentication-reasons.ts'
import { OFFERED_GRANT_TYPES } from './token/grant-types.ts'

/** One refusal of the server. Texts in Markdown are for docs/errors.md. */
export interface Refusal {
  readonly status: number
  /** Other statuses that it has, and when. Markdown. */
  readonly otherStatus?: string
  /** Fixed, so that a response reveals no more than its code. A refusal of scopes names them instead. */
  readonly description: string
  /** What the client should do. Markdown. */
  readonly remedy: string
  /** When each happens, and where the remedy above does not say it, the correction. Markdown. */
  readonly reasons: Readonly<Record<string, string>>
}

/** Every refusal of the server. OAuth clients read the code. `npm run docs` writes docs/errors.md from it. */
export const REFUSALS = {
  invalid_request: {
    status: 400,
    otherStatus: 'or 422 when `grant_type` is missing, 413, 415, 405, 404, 421, 431',
    description: 'The request lacks a parameter, repeats one, or has one that is malformed.',
    remedy: 'Correct the request. Tokens stay valid.',
    reasons: {
      parameter_missing:
        '`code`, `refresh_token`, `device_code`, `assertion`, `subject_token`, `subject_token_type` or `resource` is missing for its grant, `token` at introspection or revocation, or `resource` at the metadata of an API',
      parameter_repeated: 'a parameter is sent twice',
      device_in_browser:
        'a page in a browser starts a device (`Origin` or `Sec-Fetch-Site`). The grant is for programs without a browser',
      not_a_navigation:
        'a page of another site loads the address for an image, a script or in advance (`Sec-Fetch-Dest`, `Sec-Purpose`). Open it in a window or a frame',
      parameter_malformed: 'the address or the Content-Length header is malformed',
      form_malformed: 'the form or query has a broken percent-escape, is not UTF-8, or has more than 100 parameters',
      two_client_authentications:
        'the Authorization header and the form both authenticate, or disagree about the client',
      two_access_tokens: 'a request to the userinfo endpoint has an access token in its header and in its form',
      credentials_in_query:
        'the address has a parameter of the form, such as `client_id`. Send it in the body, an access token in the header',
      user_mismatch:
        '`user_id` is not the user of the grant, or with client credentials not a member that the client may act for ([organizations](organizations.md))',
      organization_mismatch:
        '`org_id` is not the organization of the grant, or with client credentials not one that installed the client',
      proof_missing:
        'no header `DPoP`, and the client registered `dpop_bound_access_tokens`, or an API accepts only bound tokens ([sender-constrained.md](sender-constrained.md))',
      subject_inactive:
        '`subject_token` is not an access token of this server, or no longer active ([token-exchange.md](token-exchange.md))',
      subject_for_another: '`subject_token` is for another API than the caller, or for several; counted in the audit',
      subject_without_user: 'the client of `subject_token` acts for itself. Use client credentials',
      token_type_unsupported:
        '`subject_token_type` or `requested_token_type` is not that of an access token (RFC 8693 §3)',
      actor_unsupported: 'the request has an `actor_token`. The API that authenticates is the actor',
      actors_too_many: '`act` of `subject_token` names four parties already',
      verifier_malformed:
        '`code_verifier` is not 43 to 128 unreserved characters (RFC 7636 §4.1); the code stays valid',
      request_uri_pushed: 'a pushed request has a `request_uri`. Push the parameters themselves',
      pushed_request_malformed: 'a pushed request has a fault, which `error_description` names',
      insecure_transport: 'plain HTTP reached an https issuer. Use https; operators: see `GRANTOR_TRUST_PROXY`',
      headers_too_many: 'more than 100 headers',
      grant_type_missing: '`grant_type` is missing',
      media_type_wrong:
        "the Content-Type is not a form's, or the body is compressed. Send `application/x-www-form-urlencoded`, without `Content-Encoding`",
      body_too_large: 'more than 16 KiB, or 256 KiB of an administrator',
      method_wrong: 'the path does not have this method. See `Allow`',
      path_unknown: 'there is nothing at this path',
      registration_closed: 'the operator closed registration (404)',
      console_host_wrong:
        'the host of a request to the [console](console.md) is not that of `GRANTOR_CONSOLE_URL` (421), or a proxy forwarded a request to a loopback address',
      console_form_wrong: 'a form of the [console](console.md) is of another site, page or session',
      console_sign_in_failed:
        'the sign-in to the [console](console.md) began in another browser, or came back too late or twice. Open the console again',
      console_cookie_wrong:
        'the sign-in to the [console](console.md) came back without its cookie, or with those of several sessions. Remove the cookies of the host',
      input_malformed: 'the input of a task of the [administration](administration.md) is not acceptable. See `detail`',
    },
  },
  invalid_client: {
    status: 401,
    description: 'The client is unknown or did not authenticate as it registered.',
    remedy: 'Check the credentials; if they are right, the client was deleted: register again.',
    reasons: AUTHENTICATION_REASONS,
  },
  invalid_token: {
    status: 401,
    description: 'The token for this request is missing, invalid, expired or revoked.',
    remedy:
      'Refresh the access token. At the [management of a client](clients.md#registration): if the token is right, the client was deleted or disabled.',
    reasons: TOKEN_REASONS,
  },
  insufficient_scope: {
    status: 403,
    description: 'These credentials do not permit this request.',
    remedy:
      'At the userinfo endpoint: request the scope `openid`. [Administration](administration.md): use credentials that permit this task.',
    reasons: {
      openid_missing:
        'the access token of a request to the userinfo endpoint has no scope `openid`, or no user allowed it',
      admin_access_too_narrow:
        'the credentials or the role have the access `support` or `users`, which do not include the task',
      admin_may_only_read: 'the credentials were made with `--access read`, or the role has read access',
      console_role_missing: 'the user of the [console](console.md) has no role',
      console_factor_missing:
        'the user of the [console](console.md) signed in with one factor, or has removed one since',
      admin_of_sign_in:
        'the task is for the credentials of [delegated sign-in](delegated-sign-in.md) (`gde_…`) only, or these credentials are not for it',
      admin_may_only_read_metrics: 'the credentials were made with `--access metrics`',
      admin_of_one_organization: 'the credentials are for one organization, and the task is not',
    },
  },
  not_found: {
    status: 404,
    description: 'The object of this request does not exist.',
    remedy: 'Administration only: `detail` says what does not exist.',
    reasons: {
      object_unknown: 'the object of the task does not exist, or belongs to another organization',
    },
  },
  conflict: {
    status: 409,
    description: 'The current state of the object does not allow this.',
    remedy: 'Administration only: `detail` says what conflicts.',
    reasons: {
      state_differs: 'the object exists already, or changed meanwhile',
    },
  },
  invalid_grant: {
    status: 400,
    description:
      'The authorization code, its verifier, the refresh token or the assertion is invalid, expired, used or revoked.',
    remedy: 'Start a new authorization.',
    reasons: {
      device_unknown: 'the device code was not issued by this server',
      device_of_another_client: 'another client presented the device code; nothing changed',
      code_unknown: 'the code was not issued by this server, or was invalidated by a wrong verifier',
      code_expired: 'the code was presented too late',
      code_replayed: 'the code, or that of a device, was redeemed before; its tokens are revoked',
      code_of_another_client: 'another client presented it; nothing changed',
      redirect_uri_mismatch: '`redirect_uri` is not the one of the authorization request; nothing changed',
      redirect_uri_missing:
        'no `redirect_uri`, and the authorization request had no `code_challenge` that binds the code; nothing changed',
      verifier_unexpected: 'a `code_verifier`, and the authorization request had no `code_challenge`; nothing changed',
      verifier_missing: 'no `code_verifier`; nothing changed',
      verifier_wrong: 'the verifier does not match; the code is now invalid',
      key_differs:
        'the code, the refresh token or the assertion is bound to a key, and the request has no DPoP proof or one of another key; nothing changed',
      assertion_malformed:
        'the identity assertion is not one of at most 8 KiB with the header and the claims that [enterprise.md](enterprise.md) lists',
      assertion_issuer:
        '`iss` is not the issuer of exactly one usable provider that accepts assertions, or that provider does not list the client',
      assertion_wrong: 'no key of the provider signed the assertion',
      assertion_audience: '`aud` is not this issuer alone',
      assertion_client: '`client_id` of the assertion is not the client that presents it',
      assertion_expired:
        'the assertion has expired, is valid for more than 30 minutes, is from the future, or from before all tokens were revoked or the store was restored',
      assertion_replayed: 'the assertion was used before',
      assertion_tenant: 'the assertion is for a tenant; create a provider for each',
      assertion_resource:
        '`resource` of the assertion and of the request is not one declared API of the provider; without it, the provider has several',
      assertion_details: 'the assertion has `authorization_details`',
      subject_refused:
        'the subject has no account and gets none by the rules of sign-in, or is disabled, or is not a member of the organization of the provider',
      refresh_unknown: 'the refresh token was not issued by this server, or its grant was deleted long ago',
      refresh_of_another_client: 'another client presented it; nothing changed',
      refresh_expired:
        'it was unused for longer than `GRANTOR_REFRESH_IDLE_LIFETIME`, or the grant is older than `GRANTOR_REFRESH_ABSOLUTE_LIFETIME`',
      refresh_not_yet_valid: 'the grant has a time in the future, because the clock was ahead when it was issued',
      refresh_revoked: 'the grant is revoked',
      refresh_reused:
        'an older token of the family was presented, so a copy exists, and the grant is revoked; `why` of `refresh-token.reused` says by which rule',
      refresh_parted:
        'an older token of the family was presented in another network than the newest, or is older than `GRANTOR_REFRESH_EARLIER`: sign in, or refresh there with the newest ([copies](mcp.md#several-processes))',
      resource_gone: 'a resource of the grant is no longer declared',
      scope_gone: 'the grant has no scope of one of its APIs, because scopes were declared after it was made',
      user_not_live: 'the user was deleted or disabled, changed the password, or had all tokens revoked',
      organization_not_live: 'the organization was deleted or disabled, or the operator revoked its tokens',
      membership_not_live: 'the user is not a member of the organization, or is or was disabled there since',
      client_changed:
        "the client's name or a host of a redirect or logout URI changed after the user allowed it; nothing changed",
      client_not_live: "the operator revoked the client's tokens",
      everything_ended: 'the operator revoked all tokens of the server (`grantor token revoke-all`) after this grant',
    },
  },
  invalid_dpop_proof: {
    status: 400,
    otherStatus: 'or 401 at the userinfo endpoint',
    description: 'The DPoP proof is malformed, is for another request, or is not signed by its key.',
    remedy: 'Correct the proof. Tokens stay valid.',
    reasons: {
      proof_malformed:
        'the header `DPoP` is not one JWT of at most 4 KiB with the members of RFC 9449 §4.2, or its key is private, weak or not for its algorithm; or it has a right nonce, and `exp` is over or `nbf` not reached',
      proof_for_another_request: '`htm` is not the method, or `htu` not the address of the endpoint under the issuer',
      proof_wrong: 'the key in the header did not sign the proof',
      proof_of_another_token: 'at the userinfo endpoint, `ath` is not the hash of the access token',
      proof_of_another_key:
        'at the userinfo endpoint, the access token is bound to another key; in a pushed request, `dpop_jkt` names another one',
      proof_replayed: 'at the userinfo endpoint, the same proof was used before. Make one for each request',
    },
  },
  use_dpop_nonce: {
    status: 400,
    otherStatus: 'or 401 at the userinfo endpoint',
    description: 'The DPoP proof is not recent. Make another one with the nonce of the header DPoP-Nonce.',
    remedy:
      'Repeat the request with a proof that has the `nonce` of the header `DPoP-Nonce`. Libraries do so. A client assertion of the request was not used up.',
    reasons: {
      proof_not_fresh: 'without a nonce, `iat` differs by more than a minute; or `exp` is over, or `nbf` not reached',
      nonce_stale: '`nonce` is not one that this server gave in the last five to ten minutes',
    },
  },
  authorization_pending: {
    status: 400,
    description: 'No user has answered yet.',
    remedy: 'Poll again after `interval` seconds ([devices.md](devices.md)).',
    reasons: { device_waiting: 'a device polls, and no user has answered' },
  },
  slow_down: {
    status: 400,
    description: 'The device polls too often.',
    remedy: 'Poll again after five seconds more than before, from now on (RFC 8628 §3.5).',
    reasons: { device_polled_too_often: 'a device polls more than 15 times in a minute, and no user has answered' },
  },
  access_denied: {
    status: 400,
    description: 'The user denied the request, or it was refused for the user.',
    remedy: 'Stop polling. The user can start again on the device.',
    reasons: { device_denied: 'a user answered the device with "Deny", or may not allow what it asks for' },
  },
  expired_token: {
    status: 400,
    description: 'The device code has expired.',
    remedy: 'Start again at the device authorization endpoint, when the user wants to.',
    reasons: {
      device_expired:
        'no user answered within ten minutes, or the device did not poll within five minutes after the approval',
    },
  },
  unauthorized_client: {
    status: 400,
    description: 'The client is not registered for this grant type, or is not allowed to use it.',
    remedy: 'Register for the grant type.',
    reasons: {
      grant_type_not_registered: 'the client did not register this grant type',
      client_public:
        'client credentials without a secret; or an identity assertion of a public client without a metadata document',
      client_not_listed:
        'no usable provider lists the client for its identity assertions (`grantor provider update --assertion-client`), or the domain of the client is blocked',
      exchange_by_client: 'a client requests a token exchange, which is for the credentials of APIs (`gap_…`)',
    },
  },
  unsupported_grant_type: {
    status: 422,
    description: `The grant type is not one of ${listed(OFFERED_GRANT_TYPES)}.`,
    remedy: 'Use one that the metadata lists.',
    reasons: {
      grant_type_unknown: '`grant_type` is not one that the metadata lists',
    },
  },
  invalid_scope: {
    status: 400,
    description: 'The scope is malformed or exceeds what this client may request.',
    remedy: 'Request other scopes, or name one `resource`: `error_description` says which. Tokens stay valid.',
    reasons: {
      scope_malformed: 'the scope is not one of RFC 6749 §3.3',
      scope_not_allowed:
        'the client may have none of the scopes it requests, or none for one API ([apis.md](apis.md)); or a refresh requests more than was granted',
      audience_ambiguous:
        'the request names no `resource`, and its scopes belong to several APIs, or several declare one of them',
      token_too_long:
        'the scopes, with the resources, are more than a token has ([maxima.md](maxima.md)): request fewer, or one resource at a time',
    },
  },
  invalid_target: {
    status: 400,
    otherStatus: 'or 404 for the document of an API',
    description: 'This server issues no tokens for the resource.',
    remedy: 'Name a resource that the grant has, and only one if its APIs need different tokens. Tokens stay valid.',
    reasons: {
      resource_malformed:
        'a resource is not an absolute URI without a fragment or user information (RFC 8707 §2), or there are more than 8',
      resource_unknown: 'no API is declared for it: see `grantor api create`; 404 at the metadata of an API',
      resource_not_granted: 'the grant does not have one of the requested resources',
      tokens_differ:
        'its APIs need tokens of different formats or algorithms. The code or refresh token stays valid: name one `resource` ([apis.md](apis.md))',
      exchange_not_allowed:
        'the API is not declared, or does not list the caller: see `grantor api update --exchange-from` ([token-exchange.md](token-exchange.md))',
      binding_differs:
        'one API accepts only bearer tokens, and another one or the client only bound ones ([sender-constrained.md](sender-constrained.md))',
    },
  },
  invalid_redirect_uri: {
    status: 400,
    description: 'A redirect URI is not allowed.',
    remedy: 'Correct the redirect URIs; `detail` names each.',
    reasons: {
      redirect_uri_not_allowed:
        'a redirect URI is dangerous or ambiguous, or none can be used; `GRANTOR_REDIRECT_SCHEMES` allows more schemes of apps',
      domain_blocked: 'the operator blocked the host of a redirect URI (`grantor domain block`)',
    },
  },
  invalid_client_metadata: {
    status: 400,
    otherStatus: 'or 422 for the shape, 413, 415',
    description: 'The client metadata is malformed or not allowed.',
    remedy: 'Correct the metadata; `detail` names each fault.',
    reasons: {
      metadata_malformed: 'a field has the wrong type',
      metadata_not_allowed: "a field's value is not allowed",
      json_malformed: 'the body is not JSON, is nested too deep, has too many or forbidden members',
      metadata_media_type: 'the Content-Type is not `application/json`, or the body is compressed',
      metadata_too_large: 'more than 16 KiB',
    },
  },
  temporarily_unavailable: {
    status: 503,
    otherStatus: 'or 429',
    description: 'The server cannot answer now. Try again later.',
    remedy: 'Wait as long as `Retry-After` says and repeat the request.',
    reasons: {
      too_many_requests:
        'this network or client has used up its rate (429; see [limits.md](faults.md#what-callers-can-make-the-server-store))',
      too_many_proofs:
        'at the userinfo endpoint, this key or network has sent too many proofs that have not ended (429; see [limits.md](faults.md#what-callers-can-make-the-server-store))',
      store_unavailable:
        'the database is locked, full, read-only or unreachable ([faults.md](faults.md)); `/health/ready` has `disk_full`, `disk_read_only`, `disk_failed`, `store_read_only`, `store_locked`, `commits_wait` or `commits_hang`, if known',
      client_document_unavailable:
        'the [metadata document](clients.md#metadata-documents) of the client could not be fetched or is not acceptable (log)',
      password_queue_full: 'too many sign-ins, or [slow secrets](moving.md#hydra)',
      overloaded:
        'more requests are pending than can be answered soon ([faults.md](faults.md)); this request changed nothing',
      keys_unavailable:
        'the keys at the `jwks_uri` of the client cannot be fetched (`client.keys-unavailable` in the log)',
      own_limit:
        'a document or keys of the client must be fetched, and this network or the host has used up [its rate](faults.md#requests-of-the-server), or too many requests are under way; or the keys at the `jwks_uri` were fetched less than 30 seconds ago, without the one that the assertion names',
      provider_unavailable:
        'the keys of the provider of an identity assertion cannot be fetched (`provider.failed` in the log)',
      shutting_down: 'the answer of `/health/ready` while a process stops; use another node',
      clock_differs:
        "the clock of this node was changed, or [differs](faults.md#a-clock-that-differs) from the database's by `ahead_ms` (`/health/ready`); the node issues nothing",
      store_went_back:
        'the store may have been [restored by other means](operations/backup.md#restored-by-other-means) than `grantor restore`; nothing is served until the operator has answered',
      client_changed_meanwhile:
        'another request changed the client or its secret at the same time; read the client and repeat your change',
    },
  },
  server_error: {
    status: 500,
    description: 'The server encountered an unexpected condition.',
    remedy: 'Report it: this is a bug.',
    reasons: {
      bug: 'an internal error; the log line has its cause',
      body_consumed:
        'a body parser of the program that Grantor is [part of](library.md) has read the body. Mount Grantor before it',
    },
  },
} as const satisfies Readonly<Record<string, Refusal>>

/** `a, b and c`. */
export function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ')
}
